"""Gateway tokens over HTTP: recognised, spent once, and refused in words that tell nothing."""

from __future__ import annotations

import time
from typing import Any

import jwt
import pytest

from lorebank.access.gateway_token import TokenRules

BANK = "/v1/default/banks/team"
RECALL = f"{BANK}/memories/recall"
UPLOAD = f"{BANK}/files/retain"
SECRET = "a-secret-of-at-least-thirty-two-bytes"


def token(secret: str = SECRET, algorithm: str = "HS256", headers: Any = None, **claims: Any) -> str:
    now = int(time.time())
    made = {"sender": "telegram:42", "iat": now, "exp": now + 60} | claims
    return jwt.encode(made, secret, algorithm=algorithm, headers=headers)


@pytest.fixture
def stage(make_stage: Any) -> Any:
    made = make_stage(tokens=TokenRules((SECRET,)))
    made.directory.put_channel("telegram", "42", "root")
    return made


async def recall(stage: Any, credential: str, body: bytes = b'{"query":"x"}', path: str = RECALL) -> Any:
    return await stage.exact("POST", path, headers={"authorization": f"Bearer {credential}"}, body=[body])


async def test_a_mapped_sender_acts_as_his_user(stage: Any) -> None:
    answer = await recall(stage, token(channel="group", client_id="openclaw"))
    assert answer.status == 200
    principal = stage.calls[0].grant.principal
    assert (principal.kind, principal.id, principal.by_token) == ("user", "root", True)
    began, ended = stage.written.events
    assert (began.outcome, ended.outcome) == ("allow", "done")
    assert (began.principal, began.client, began.transport) == ("user:root", "openclaw", "http")
    assert began.request_id == answer.headers["x-request-id"]


async def test_an_unmapped_sender_has_no_rights_of_the_user(stage: Any) -> None:
    answer = await recall(stage, token(sender="telegram:43"))
    assert answer.status == 403 and not stage.calls


@pytest.mark.parametrize(
    "credential",
    [
        token("another-secret-of-thirty-two-bytes-or-more"),
        token().rpartition(".")[0] + "." + "A" * 43,
        token(exp=int(time.time()) - 3600),
        token(exp=int(time.time()) + 10**6),
        token(sender="telegram"),
        token(headers={"typ": "vault+jwt"}),
        token("", "none"),
        "eyJ",
        "eyJ\xff.\xff.\xff",
    ],
)
async def test_a_bad_token_is_refused_without_a_word_of_it(stage: Any, credential: str) -> None:
    answer = await recall(stage, credential)
    assert answer.status == 401 and answer.headers["www-authenticate"] == "Bearer"
    detail = answer.json()["detail"]
    assert isinstance(detail, str) and len(detail) < 150
    assert SECRET not in detail and credential not in detail
    assert not stage.calls and answer.parts_read == 0
    (row,) = stage.written.events
    assert (row.outcome, row.action, row.operation) == ("unauthenticated", "bank:test", "recall_memories")
    assert row.reason == detail and row.request_id == answer.headers["x-request-id"]


async def test_a_disabled_user_is_refused_by_key_and_by_token(stage: Any) -> None:
    stage.directory.put_user("root", is_active=False)
    for credential in (token(), "hc_u_root"):
        assert (await recall(stage, credential)).status == 401
    stage.directory.put_user("root")
    for credential in (token(), "hc_u_root"):
        assert (await recall(stage, credential)).status == 200


async def test_a_token_with_an_id_is_good_for_one_request_and_its_repeats(stage: Any) -> None:
    once = token(jti="j1")
    for _ in range(2):
        assert (await recall(stage, once)).status == 200
    for changed in (
        await recall(stage, once, b'{"query":"y"}'),
        await recall(stage, once, b"not json"),
        await recall(stage, once, path=RECALL + "?x=1"),
        await recall(stage, once, path="/v1/default/banks/hr/memories/recall"),
        await stage.exact("GET", f"{BANK}/stats", headers={"authorization": once}),
    ):
        assert changed.status == 401
        assert "already" in changed.json()["detail"]
    assert len(stage.calls) == 2
    assert len(stage.written.refused()) == 5
    assert (await recall(stage, token(jti="j2"), b'{"query":"y"}')).status == 200


async def test_a_body_that_comes_in_parts_is_the_same_body(stage: Any) -> None:
    once = token(jti="j1")
    assert (await recall(stage, once)).status == 200
    headers = {"authorization": once}
    again = await stage.exact("POST", RECALL, headers=headers, body=[b'{"query"', b":", b'"x"}'])
    assert again.status == 200


async def test_an_upload_is_spent_by_its_bytes_too(stage: Any) -> None:
    once = token(jti="j1")
    head = b'--B\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n'
    headers = {"authorization": once, "content-type": "multipart/form-data; boundary=B"}
    for text, status in ((b"one", 200), (b"one", 200), (b"two", 401)):
        body = [head, text, b"\r\n--B--\r\n"]
        assert (await stage.exact("POST", UPLOAD, headers=headers, body=body)).status == status
    assert len(stage.calls) == 2


async def test_a_token_without_an_id_may_come_again(stage: Any) -> None:
    made = token()
    for query in (b'{"query":"x"}', b'{"query":"y"}'):
        assert (await recall(stage, made, query)).status == 200
    assert not stage.directory.claims


async def test_public_operations_look_at_no_credential(stage: Any) -> None:
    answer = await stage.exact("GET", "/health", headers={"authorization": token("x" * 32, jti="j")})
    assert answer.status == 200
    assert not stage.written.events and not stage.directory.claims


async def test_without_secrets_no_token_is_taken(make_stage: Any) -> None:
    stage = make_stage()
    answer = await recall(stage, token())
    assert (answer.status, answer.json()["detail"]) == (401, "the token is not valid")
