"""Audience tokens: what a host can say, and that nothing else is heard."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.access.audience import Audience
from lorebank.access.audience_token import AUDIENCE_TYPE, AudienceToken, make_token, read_audience
from lorebank.access.authenticate import Arrival, Authenticator
from lorebank.access.principal import Principal, principal_from_json
from lorebank.access.signed_token import TokenRules
from lorebank.errors import Bug, Corrupt, Unauthenticated
from lorebank.storage.sqlite.audience_key import AUDIENCE_KEY_FILE, ensure_audience_key, read_audience_key
from small_directory import NOW, SECOND, SmallDirectory

SECRET = "the-secret-of-the-host-has-many-bytes"
OTHER = "another-secret-of-thirty-two-bytes-or-more"
RULES = TokenRules((SECRET,), lifetime_s=900, leeway_s=30)
NOW_S = NOW // SECOND
GROUP = "agent:main:telegram:group:7"
SESSION = "33333333-3333-4333-8333-333333333333"
BASE: dict[str, Any] = {"agent": "main", "visibility": "owner-private", "invocation": "run-1"}
TALK: dict[str, Any] = BASE | {"visibility": "conversation", "session_key": GROUP, "session_id": SESSION}
ROOT: dict[str, Any] = {"visibility": "conversation", "session_key": GROUP, "session_id": SESSION}
CLAIMS = (*TALK, "aud", "exp", "iat", "nbf", "jti", "sandboxed", "host", "spawned", "root")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(claims: Any, header: Any = None, secret: str = SECRET) -> str:
    """A token made without the code that is under test: HMAC-SHA256 by hand (RFC 7515)."""
    head = b64(json.dumps({"alg": "HS256", "typ": AUDIENCE_TYPE} if header is None else header).encode())
    text = f"{head}.{b64(json.dumps(claims).encode())}"
    return f"{text}.{b64(hmac.digest(secret.encode(), text.encode(), 'sha256'))}"


def claims(base: dict[str, Any] = BASE, **changed: Any) -> dict[str, Any]:
    times = {"aud": "lorebank", "iat": NOW_S, "exp": NOW_S + 300, "jti": "j-1"}
    return {name: value for name, value in (times | base | changed).items() if value is not ...}


def read(base: dict[str, Any] = BASE, **changed: Any) -> AudienceToken:
    return read_audience(signed(claims(base, **changed)), RULES, NOW)


def refused(work: Callable[[], object]) -> str:
    with pytest.raises(Unauthenticated) as said:
        work()
    return said.value.message


def test_the_audience_is_what_the_host_says() -> None:
    assert read().audience == Audience("main", "owner-private", None, None, "run-1", (NOW_S + 330) * SECOND)
    found = read(TALK, sandboxed=True, host="gateway-1").audience
    assert (found.visibility, found.session_key, found.session_id) == ("conversation", GROUP, SESSION)
    assert found.sandboxed and found.host == "gateway-1" and not found.delegated


@pytest.mark.statement("1.3.28", "1.6.57")
def test_a_spawned_child_speaks_for_the_root_that_the_host_delegates() -> None:
    own = {"session_key": "agent:main:subagent:1", "session_id": "child"}
    found = read(BASE, **own, spawned=True, root=ROOT).audience
    assert (found.visibility, found.session_key, found.session_id) == ("conversation", GROUP, SESSION)
    assert found.delegated
    owners = read(TALK, spawned=True, root={"visibility": "owner-private"}).audience
    assert (owners.visibility, owners.session_key) == ("owner-private", None)
    assert read(TALK, visibility=..., spawned=True, root=ROOT).audience == found


@pytest.mark.parametrize(
    "root",
    [
        ...,
        None,
        {},
        "x",
        [ROOT],
        {"visibility": "conversation"},
        ROOT | {"session_id": ""},
        ROOT | {"visibility": "x"},
    ],
)
def test_1_6_57_a_child_without_a_whole_root_is_refused(root: Any) -> None:
    refused(lambda: read(TALK, spawned=True, root=root))


def test_a_root_without_a_child_is_a_contradiction() -> None:
    assert "not of a spawned child" in refused(lambda: read(TALK, root=ROOT))
    assert read(TALK, root=None, spawned=False).audience.session_key == GROUP


@pytest.mark.statement("1.6.58")
@pytest.mark.parametrize(
    "changed",
    [
        {"agent": ...},
        {"visibility": ...},
        {"visibility": None},
        {"session_key": ...},
        {"session_id": ...},
        {"session_key": None},
        {"session_id": ""},
        {"spawned": True},
    ],
)
def test_what_is_missing_of_an_audience_is_called_so(changed: dict[str, Any]) -> None:
    assert refused(lambda: read(TALK, **changed)).startswith("missing audience")


@pytest.mark.parametrize("name", ["aud", "exp", "jti", "invocation"])
def test_some_claims_are_always_needed(name: str) -> None:
    for value in (..., None, ""):
        refused(partial(read, TALK, **{name: value}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("agent", 7),
        ("agent", " "),
        ("agent", "team-*"),
        ("agent", "a\nb"),
        ("agent", "a\u2028b"),
        ("agent", "a" * 251),
        ("visibility", "Owner-Private"),
        ("visibility", "private"),
        ("visibility", True),
        ("visibility", ["conversation"]),
        ("session_key", "a\x00b"),
        ("session_key", "k" * 1025),
        ("session_id", 5),
        ("session_id", "\ud800"),
        ("invocation", {"id": 1}),
        ("sandboxed", "false"),
        ("sandboxed", 0),
        ("sandboxed", None),
        ("spawned", 1),
        ("host", "a\tb"),
        ("jti", 12),
        ("exp", "300"),
        ("exp", True),
        ("exp", NOW_S - 30),
        ("exp", NOW_S + 901),
        ("iat", NOW_S + 31),
        ("nbf", NOW_S + 31),
        ("aud", "lorebank2"),
        ("aud", ["other"]),
    ],
)
def test_a_claim_of_another_form_is_refused(name: str, value: Any) -> None:
    text = refused(lambda: read(TALK, **{name: value}))
    assert text.startswith(("the token", "missing audience")) and text.isprintable()


def test_texts_are_compared_in_their_normal_form() -> None:
    assert read(agent="Zoe\u0308").audience.agent == "Zo\u00eb"


def test_1_6_58_a_stale_token_is_refused_and_its_audience_ends_with_it() -> None:
    token = signed(claims())
    end = read_audience(token, RULES, NOW).audience.expires_at
    assert read_audience(token, RULES, end - 1).audience.expires_at == end
    assert "expired" in refused(lambda: read_audience(token, RULES, end))


HEADERS = [
    {"alg": "HS256"},
    {"alg": "HS256", "typ": "JWT"},
    {"alg": "HS256", "typ": "jwt"},
    {"alg": "HS256", "typ": None},
    {"alg": "HS256", "typ": "Lorebank-Audience"},
    {"alg": "HS256", "typ": AUDIENCE_TYPE + " "},
    {"alg": "HS256", "typ": [AUDIENCE_TYPE]},
    {"alg": "none", "typ": AUDIENCE_TYPE},
    {"alg": "HS512", "typ": AUDIENCE_TYPE},
    {"alg": "HS256", "typ": AUDIENCE_TYPE, "crit": ["exp"]},
    {"alg": "HS256", "typ": AUDIENCE_TYPE, "b64": True},
]


@pytest.mark.parametrize("header", HEADERS)
def test_only_the_one_type_is_read(header: dict[str, Any]) -> None:
    refused(lambda: read_audience(signed(claims(), header), RULES, NOW))


def test_without_secrets_or_by_another_secret_nothing_is_read() -> None:
    token = signed(claims(), secret=OTHER)
    assert refused(lambda: read_audience(token, RULES, NOW)) == "the token is not valid"
    assert refused(lambda: read_audience(token, TokenRules(), NOW)) == "the token is not valid"
    assert read_audience(token, TokenRules((SECRET, OTHER)), NOW).audience.agent == "main"


@given(st.sampled_from(CLAIMS), JSON | st.just(...), st.booleans(), st.booleans())
def test_no_changed_claim_opens_more_than_it_says(name: str, value: Any, spawned: bool, root: bool) -> None:
    """Whatever stands in one claim: either the token is refused, or its audience is exactly what it says."""
    said = claims(TALK, **({"spawned": True} if spawned else {}), **({"root": ROOT} if root else {}))
    said = {key: one for key, one in (said | {name: value}).items() if one is not ...}
    try:
        found = read_audience(signed(said), RULES, NOW).audience
    except Unauthenticated as exc:
        assert exc.message.isprintable()
        return
    speaks = said["root"] if said.get("spawned") else said
    assert found.visibility == speaks["visibility"] and found.visibility in ("owner-private", "conversation")
    assert found.sandboxed is said.get("sandboxed", False) and found.delegated is said.get("spawned", False)
    assert isinstance(found.agent, str) and found.agent.strip() and "*" not in found.agent
    if found.visibility == "conversation":
        assert found.session_key and found.session_id
    assert NOW < found.expires_at <= (NOW_S + 931) * SECOND


@given(st.integers(0, 300), st.integers(1, 255))
def test_no_changed_byte_is_read(at: int, flip: int) -> None:
    token = bytearray(signed(claims(TALK)).encode())
    token[at % len(token)] ^= flip
    refused(lambda: read_audience(token.decode("latin-1"), RULES, NOW))


def test_what_is_made_here_is_read_here() -> None:
    token = make_token(TALK | {"host": "gw"}, SECRET, 60, NOW)
    found = read_audience(token, RULES, NOW)
    assert found.audience.session_key == GROUP and found.audience.expires_at == (NOW_S + 90) * SECOND
    assert found.token_id != read_audience(make_token(TALK, SECRET, 60, NOW), RULES, NOW).token_id
    again = make_token(TALK | {"jti": "one", "exp": NOW_S + 5}, SECRET, 60, NOW)
    assert read_audience(again, RULES, NOW).audience.expires_at == (NOW_S + 35) * SECOND


# at the door


def desk(gateway: str = OTHER, host: str = SECRET) -> tuple[Authenticator, SmallDirectory]:
    directory = SmallDirectory()
    directory.put_user("alice")
    directory.put_channel("telegram", "42", "alice")
    rules = (TokenRules((gateway,)), TokenRules((host,)))
    return Authenticator(directory, *rules, now=lambda: NOW), directory


def arrive(token: str, **secrets: str) -> Arrival:
    return desk(**secrets)[0].authenticate(f"Bearer {token}")


def test_an_agent_arrives_with_its_audience() -> None:
    found = arrive(signed(claims(TALK, host="gw")))
    who = found.principal
    assert (who.kind, who.id, who.name, who.by_token) == ("agent", "main", "agent:main", False)
    assert who.audience is not None and who.audience.session_id == SESSION
    assert who.circumstances.client == "gw" and found.token_id is not None


@pytest.mark.parametrize("same", [False, True])
def test_neither_kind_of_token_is_taken_for_the_other(same: bool) -> None:
    """Not by its secret, and not where both kinds have the same secret: the type tells them apart."""
    gateway = SECRET if same else OTHER
    sender = {"sender": "telegram:42", "iat": NOW_S, "exp": NOW_S + 60}
    for header in ({"alg": "HS256"}, {"alg": "HS256", "typ": "JWT"}):
        assert arrive(signed(sender, header, gateway), gateway=gateway).principal.id == "alice"
        found = arrive(signed(sender | claims(TALK), header, gateway), gateway=gateway)
        assert found.principal.kind == "user"
    if not same:
        for token in (signed(sender | claims(TALK), {"alg": "HS256"}), signed(claims(TALK), secret=OTHER)):
            refused(partial(arrive, token, gateway=gateway))
    refused(lambda: arrive(signed(sender, secret=gateway), gateway=gateway))
    assert arrive(signed(sender | claims(TALK)), gateway=gateway).principal.kind == "agent"


def test_a_token_is_good_for_one_request_and_its_repeats() -> None:
    door, directory = desk()
    token = signed(claims(TALK))
    for digest in ("a", "a"):
        door.claim(door.authenticate(token), digest)
    assert "used already" in refused(lambda: door.claim(door.authenticate(token), "b"))
    others = signed(claims(TALK, host="another"))
    door.claim(door.authenticate(others), "b")
    assert len(directory.claims) == 2


def test_a_gateways_token_id_is_none_of_a_hosts() -> None:
    door, directory = desk(gateway=SECRET)
    both = {"sender": "telegram:42"} | claims(TALK)
    door.claim(door.authenticate(signed(both, {"alg": "HS256"})), "a")
    door.claim(door.authenticate(signed(both)), "b")
    assert len(directory.claims) == 2


def test_where_no_keys_are_asked_for_only_audience_tokens_are_read() -> None:
    door, _ = desk()
    for header in (None, "", "Bearer x", "Bearer eyJx", signed({"sender": "telegram:42"}, {"alg": "HS256"})):
        assert door.agent(header) is None
    found = door.agent(f"Bearer {signed(claims(TALK))}")
    assert found is not None and found.principal.kind == "agent"
    refused(lambda: door.agent(f"Bearer {signed(claims(TALK), secret=OTHER)}"))


def test_no_job_runs_for_an_agent() -> None:
    who = arrive(signed(claims(TALK))).principal
    with pytest.raises(Bug):
        who.to_json()
    for forged in ({"kind": "agent", "id": "main"}, {"kind": "agent", "id": "main", "audience": TALK}):
        with pytest.raises(Corrupt):
            principal_from_json(forged)
    assert principal_from_json(Principal("user", "alice").to_json()) == Principal("user", "alice")


# the key file


def test_a_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    assert read_audience_key(tmp_path) is None
    made = ensure_audience_key(tmp_path)
    file = tmp_path / AUDIENCE_KEY_FILE
    assert ensure_audience_key(tmp_path) == read_audience_key(tmp_path) == made == file.read_text().strip()
    assert file.stat().st_mode & 0o777 == 0o600 and len(made) >= 43
    assert not TokenRules((made,)).weak


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe"])
def test_a_key_file_without_a_key_is_never_filled_again(tmp_path: Path, content: bytes) -> None:
    (tmp_path / AUDIENCE_KEY_FILE).write_bytes(content)
    with pytest.raises(Corrupt):
        ensure_audience_key(tmp_path)
    assert (tmp_path / AUDIENCE_KEY_FILE).read_bytes() == content
