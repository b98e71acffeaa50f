"""Who gets an answer at all: keys, and the rules of a server that runs without them."""

from __future__ import annotations

from typing import Any

import pytest

from lorebank.errors import InvalidInput

BANK = "/v1/default/banks/team"
RECALL = f"{BANK}/memories/recall"
ROOT, STRANGER = "hc_u_root", "hc_u_stranger"


@pytest.mark.parametrize("header", [f"Bearer {ROOT}", f"bearer  {ROOT}", ROOT])
async def test_a_key_is_taken_with_or_without_its_scheme(stage: Any, header: str) -> None:
    answer = await stage.exact("GET", f"{BANK}/stats", headers={"authorization": header})
    assert answer.status == 200


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer wrong", f"Basic {ROOT}", "Bearer \xff", f"{ROOT} x"]
)
async def test_anything_else_is_no_key(stage: Any, header: str) -> None:
    answer = await stage.exact("GET", f"{BANK}/stats", headers={"authorization": header})
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert not stage.calls


async def test_a_failed_authentication_reads_no_body(stage: Any) -> None:
    for path in (RECALL, f"{BANK}/files/retain"):
        answer = await stage.exact("POST", path, headers={"authorization": "no"}, body=[b"x" * 9] * 3)
        assert (answer.status, answer.parts_read) == (401, 0)


async def test_health_and_version_need_no_key(stage: Any) -> None:
    for path in ("/health", "/health/live", "/health/ready", "/version", "/openapi.json"):
        assert (await stage.exact("GET", path, headers={"authorization": ""})).status == 200
    assert (await stage.exact("GET", "/metrics", headers={"authorization": ""})).status == 401


async def test_with_keys_any_host_and_origin_is_fine(stage: Any) -> None:
    headers = {"host": "memory.example.org", "origin": "https://chat.example.org"}
    assert (await stage.exact("GET", f"{BANK}/stats", headers=headers)).status == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8888", "127.0.0.1", "127.0.0.1:1", "[::1]:65535"])
async def test_without_keys_loopback_hosts_act_as_root(make_stage: Any, host: str) -> None:
    stage = make_stage(no_auth=True)
    answer = await stage.exact("GET", f"{BANK}/stats", headers={"authorization": "", "host": host})
    assert answer.status == 200
    assert stage.calls[0].grant.principal.kind == "local"


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8888", "0.0.0.0",
     "127.0.0.1@evil.example", "localhost:", "192.168.0.4"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/health", f"{BANK}/stats", "/v1/nothing", "/openapi.json"])
async def test_without_keys_a_rebound_name_gets_nothing(make_stage: Any, host: str, path: str) -> None:
    stage = make_stage(no_auth=True)
    answer = await stage.exact("GET", path, headers={"authorization": f"Bearer {ROOT}", "host": host})
    assert answer.status == 403
    assert "localhost" in answer.json()["detail"] and not stage.calls


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:3000", 200),
        ("https://127.0.0.1", 200),
        ("http://[::1]:5173", 200),
        ("https://evil.example", 403),
        ("http://localhost.evil.example", 403),
        ("null", 403),
        ("file://localhost", 403),
    ],
)
async def test_without_keys_pages_of_other_sites_get_nothing(
    make_stage: Any, origin: str, status: int
) -> None:
    stage = make_stage(no_auth=True)
    headers = {"authorization": "", "origin": origin, "content-type": "text/plain"}
    answer = await stage.exact("POST", RECALL, headers=headers, body=[b'{"query":"keys"}'])
    assert answer.status == status
    assert len(stage.calls) == (1 if status == 200 else 0)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.9"])
def test_a_server_without_keys_may_listen_on_loopback(make_stage: Any, host: str) -> None:
    assert make_stage(no_auth=True, host=host).app.routes


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.4", "memory.example.org", ""])
def test_a_server_without_keys_may_not_listen_elsewhere(make_stage: Any, host: str) -> None:
    with pytest.raises(InvalidInput, match="loopback"):
        make_stage(no_auth=True, host=host)


async def test_two_authorization_headers_are_no_key(stage: Any) -> None:
    async with stage.client(None) as client:
        headers = [("Authorization", "Bearer hc_u_root"), ("Authorization", "Bearer hc_u_stranger")]
        answer = await client.get("/v1/default/banks", headers=headers)
    assert answer.status_code == 401
    assert stage.calls == []
