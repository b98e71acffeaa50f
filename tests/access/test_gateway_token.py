"""Gateway tokens: what is accepted, and that nothing else is."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import string
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.access.gateway_token import GatewayToken, TokenRules, read_token
from lorebank.errors import Unauthenticated

SECRET = "a-secret-of-at-least-thirty-two-bytes"
OTHER = "another-secret-of-thirty-two-bytes-or-more"
RULES = TokenRules((SECRET,), lifetime_s=900, leeway_s=30)
NOW_S = 1_790_000_000
NOW = NOW_S * 1_000_000
BASE: dict[str, Any] = {"sender": "telegram:42", "iat": NOW_S, "exp": NOW_S + 300}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
CLAIMS = ("sender", "provider", "channel", "topic", "agent", "client_id", "jti", "exp", "iat", "nbf", "aud")


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(payload: bytes, header: Any = None, secret: str = SECRET) -> str:
    """A token made without the library that is under test: HMAC-SHA256 by hand (RFC 7515)."""
    head = b64(json.dumps({"alg": "HS256", "typ": "JWT"} if header is None else header).encode())
    text = f"{head}.{b64(payload)}"
    return f"{text}.{b64(hmac.digest(secret.encode(), text.encode(), 'sha256'))}"


def token(secret: str = SECRET, header: Any = None, **claims: Any) -> str:
    made = {name: value for name, value in (BASE | claims).items() if value is not ...}
    return signed(json.dumps(made).encode(), header, secret)


def read(text: str, rules: TokenRules = RULES, now: int = NOW) -> GatewayToken:
    return read_token(text, rules, now)


def refused(text: str, rules: TokenRules = RULES, now: int = NOW) -> str:
    with pytest.raises(Unauthenticated) as said:
        read(text, rules, now)
    message = said.value.message
    assert message.startswith("the token ") and len(message) < 200
    assert not any(one in message for one in (*rules.secrets, "telegram") if one)
    assert not any(part in message for part in text.split(".") if len(part) > 3)
    return message


def test_a_token_says_who_speaks_where() -> None:
    made = token(provider="slack", channel="C7", topic="t1", agent="advisor", client_id="openclaw", jti="j-1")
    found = read(made)
    assert found.sender == ("telegram", "42")
    assert found.circumstances.to_json() == {
        "provider": "slack",
        "channel": "C7",
        "topic": "t1",
        "agent": "advisor",
        "sender": "telegram:42",
        "client": "openclaw",
    }
    assert found.token_id is not None and "j-1" not in found.token_id
    assert (NOW_S + 330) * 1_000_000 <= found.expires_at <= (NOW_S + 331) * 1_000_000


def test_the_library_of_gateways_makes_tokens_that_are_read() -> None:
    assert read(jwt.encode(BASE, SECRET, algorithm="HS256")).sender == ("telegram", "42")


def test_without_a_provider_claim_the_sender_tells_it_and_a_sender_may_hold_colons() -> None:
    found = read(token(sender="matrix:@bob:example.org"))
    assert found.sender == ("matrix", "@bob:example.org")
    assert found.circumstances.provider == "matrix"
    assert found.token_id is None


def test_names_are_in_the_form_in_which_the_directory_and_the_policies_have_them() -> None:
    """Another spelling of the same letters must make nobody a stranger, and get round no exclusion."""
    claims = ("provider", "channel", "topic", "agent", "client_id", "jti")
    spelled = [
        read(token(sender=f"matrix:{name}", **dict.fromkeys(claims, name)))
        for name in ("jos\u00e9", "jose\u0301")
    ]
    assert spelled[0] == spelled[1] and spelled[1].sender == ("matrix", "jos\u00e9")


@pytest.mark.parametrize("empty", [None, ""])
def test_what_a_gateway_does_not_know_may_be_null_or_empty(empty: Any) -> None:
    made = token(provider=empty, channel=empty, topic=empty, agent=empty, client_id=empty)
    assert read(made).circumstances.to_json() == {"provider": "telegram", "sender": "telegram:42"}


def test_the_same_jti_of_two_gateways_is_not_the_same_token() -> None:
    ids = {read(token(jti="1", client_id=client)).token_id for client in ("a", "b", ...)}
    assert len(ids) == 3


# Times


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        ({"exp": ...}, "no expiry"),
        ({"exp": NOW_S - 31}, "expired"),
        ({"exp": NOW_S - 30}, "expired"),
        ({"iat": NOW_S + 31}, "future"),
        ({"nbf": NOW_S + 31}, "not valid yet"),
        ({"exp": NOW_S + 901}, "too long"),
        ({"exp": NOW_S + 931, "iat": ...}, "too long"),
        ({"exp": 1e300}, "too long"),
        ({"exp": 10**18}, "too long"),
        ({"iat": 0}, "too long"),
        ({"exp": None}, "'exp'"),
        ({"exp": "soon"}, "'exp'"),
        ({"exp": str(NOW_S + 60)}, "'exp'"),
        ({"exp": True}, "'exp'"),
        ({"exp": [NOW_S + 60]}, "'exp'"),
        ({"exp": -1}, "'exp'"),
        ({"iat": False}, "'iat'"),
        ({"iat": None}, "'iat'"),
        ({"nbf": "x"}, "'nbf'"),
        ({"nbf": {}}, "'nbf'"),
    ],
)
def test_a_token_of_another_time_is_refused(claims: dict[str, Any], says: str) -> None:
    assert says in refused(token(**claims))


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": NOW_S - 29, "iat": NOW_S - 300},
        {"iat": NOW_S + 30},
        {"nbf": NOW_S + 30},
        {"exp": NOW_S + 900},
        {"exp": NOW_S + 930, "iat": NOW_S + 30},
        {"exp": NOW_S + 930, "iat": ...},
        {"exp": NOW_S + 0.5, "iat": NOW_S - 0.25, "nbf": NOW_S - 10},
    ],
)
def test_clocks_may_differ_a_little(claims: dict[str, Any]) -> None:
    assert read(token(**claims)).sender == ("telegram", "42")


@pytest.mark.parametrize("huge", ["1" + "0" * 400, "1e999", "NaN", "Infinity", "-Infinity"])
def test_a_number_that_no_clock_shows_is_refused(huge: str) -> None:
    refused(signed(b'{"sender":"telegram:42","exp":%s}' % huge.encode()))


@given(
    age=st.integers(-2000, 2000),
    lives=st.integers(-2000, 3000),
    lifetime=st.integers(1, 2000),
    leeway=st.integers(0, 300),
)
def test_the_time_rules_hold_for_all_times(age: int, lives: int, lifetime: int, leeway: int) -> None:
    issued = NOW_S - age
    expires = issued + lives
    valid = expires + leeway > NOW_S and issued <= NOW_S + leeway and lives <= lifetime
    made = token(iat=issued, exp=expires)
    rules = TokenRules((SECRET,), lifetime, leeway)
    if valid:
        assert read(made, rules).expires_at >= (expires + leeway) * 1_000_000
    else:
        refused(made, rules)


# Signatures and headers


def unsigned(made: str, header: Any, signature: str = "") -> str:
    return f"{b64(json.dumps(header).encode())}.{made.split('.')[1]}.{signature}"


def hs512(made: str) -> str:
    text = f"{b64(json.dumps({'alg': 'HS512'}).encode())}.{made.split('.')[1]}"
    return f"{text}.{b64(hmac.digest(SECRET.encode(), text.encode(), hashlib.sha512))}"


@pytest.mark.parametrize(
    "forge",
    [
        lambda made: token(OTHER),
        lambda made: unsigned(made, {"alg": "none"}),
        lambda made: unsigned(made, {"alg": "None"}, made.split(".")[2]),
        lambda made: unsigned(made, {"alg": "none", "typ": "JWT"}, made.split(".")[2]),
        lambda made: token(header={"alg": "none"}),
        lambda made: token(header={"alg": "RS256"}),
        lambda made: token(header={"alg": ["HS256"]}),
        lambda made: token(header={"alg": None}),
        lambda made: token(header={"typ": "JWT"}),
        lambda made: token(header=["HS256"]),
        hs512,
        lambda made: made.rpartition(".")[0] + ".",
        lambda made: made.rpartition(".")[0],
        lambda made: made + ".x",
        lambda made: made + "=",
        lambda made: made + "\n",
        lambda made: made.replace(".", " . "),
        lambda made: "eyJ",
        lambda made: "eyJ" + "x" * 100_000,
        lambda made: signed(b""),
        lambda made: signed(b"[]"),
        lambda made: signed(b'"text"'),
        lambda made: signed(b"{" * 3000),
        lambda made: signed(b'{"a":' * 2000 + b"1" + b"}" * 2000),
        lambda made: signed(b"\xff\xfe"),
        lambda made: signed(b'{"sender":"telegram:\\ud800","exp":%d}' % (NOW_S + 60)),
    ],
)
def test_what_no_secret_signed_as_it_must_be_is_refused(forge: Callable[[str], str]) -> None:
    refused(forge(token()))


@pytest.mark.parametrize("kind", ["JWT", "jwt", "Jwt", ...])
def test_a_plain_token_is_accepted_in_any_spelling_of_its_type(kind: Any) -> None:
    header = {"alg": "HS256"} | ({} if kind is ... else {"typ": kind})
    assert read(token(header=header)).sender == ("telegram", "42")


@pytest.mark.parametrize("kind", ["at+jwt", "JWE", "lorebank-vault+jwt", "", None, 7, ["JWT"]])
def test_another_kind_of_token_is_refused_however_well_it_is_signed(kind: Any) -> None:
    assert "type" in refused(token(header={"alg": "HS256", "typ": kind}))


@pytest.mark.parametrize(
    "more", [{"crit": ["exp"], "exp": 1}, {"crit": ["b64"], "b64": True}, {"b64": False}]
)
def test_header_fields_that_change_the_meaning_are_refused(more: dict[str, Any]) -> None:
    refused(token(header={"alg": "HS256"} | more))


@given(place=st.integers(min_value=0), letter=st.sampled_from(string.ascii_letters + string.digits + "-_.="))
def test_a_token_with_any_character_changed_is_refused(place: int, letter: str) -> None:
    made = token()
    at = place % len(made)
    changed = made[:at] + letter + made[at + 1 :]
    if changed != made:
        refused(changed)


def test_every_other_last_character_is_refused() -> None:
    """The spare bits of base64: without care four spellings of one signature would be valid."""
    made = token()
    for letter in string.ascii_letters + string.digits + "-_":
        if letter != made[-1]:
            refused(made[:-1] + letter)


@given(text=st.text(max_size=200))
def test_random_text_is_refused(text: str) -> None:
    with pytest.raises(Unauthenticated):
        read("eyJ" + text)


def test_any_of_the_secrets_may_have_signed() -> None:
    rules = replace(RULES, secrets=("old-secret", OTHER, SECRET))
    for secret in rules.secrets:
        assert read(token(secret), rules).sender == ("telegram", "42")
    refused(token(), replace(RULES, secrets=("old-secret", OTHER)))


def test_without_secrets_no_token_is_valid() -> None:
    refused(token(), TokenRules())
    refused(token(""), TokenRules())


@pytest.mark.parametrize("secret", ["x", "short", "fifteen-letters", "ü" * 15, "k" * 64, "k" * 200])
def test_secrets_of_any_length_work_without_a_warning(secret: str) -> None:
    rules = replace(RULES, secrets=(secret,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(token(secret), rules).sender == ("telegram", "42")
    assert rules.weak is (len(secret.encode()) < 32)
    assert secret not in repr(rules) or len(secret) == 1


# Claims


@pytest.mark.parametrize(
    "sender", [..., None, "", "telegram", ":", ":42", "telegram:", 5, ["telegram:42"], {"a": "b"}, True]
)
def test_a_sender_is_a_provider_and_an_id(sender: Any) -> None:
    assert "sender" in refused(token(sender=sender))


@pytest.mark.parametrize("name", ["provider", "channel", "topic", "agent", "client_id", "jti"])
@pytest.mark.parametrize(
    "value", [5, 0, True, False, ["x"], [], {}, "a\nb", "\x00", "\x7f", "x" * 513, "\u2028"]
)
def test_a_claim_is_a_short_text_without_control_characters(name: str, value: Any) -> None:
    assert f"'{name}'" in refused(token(**{name: value}))


@pytest.mark.parametrize("jti", [None, ""])
def test_a_jti_that_is_there_must_be_one(jti: Any) -> None:
    assert "'jti'" in refused(token(jti=jti))


def test_control_characters_in_a_sender_are_refused() -> None:
    refused(token(sender="telegram:4\r2"))


@pytest.mark.parametrize("aud", ["lorebank", ["lorebank"], ["x", "lorebank"], ...])
def test_a_token_without_an_audience_or_for_us_is_accepted(aud: Any) -> None:
    assert read(token(aud=aud)).sender == ("telegram", "42")


@pytest.mark.parametrize("aud", ["hindclaw", "", None, [], ["x"], {"lorebank": 1}, 7, True, "Lorebank"])
def test_a_token_for_somebody_else_is_refused(aud: Any) -> None:
    assert "audience" in refused(token(aud=aud))


@given(claims=st.dictionaries(st.sampled_from(CLAIMS), JSON, max_size=6), based=st.booleans())
def test_whatever_the_claims_are_they_are_read_or_refused(claims: dict[str, Any], based: bool) -> None:
    payload = (BASE if based else {}) | claims
    try:
        found = read(signed(json.dumps(payload).encode()))
    except Unauthenticated as exc:
        assert re.fullmatch(r"the token [\w '.,;:-]+", exc.message)
        return
    assert all(found.sender) and ":".join(found.sender) == payload["sender"]
    assert found.expires_at > NOW
    for name, value in found.circumstances.to_json().items():
        assert 0 < len(value.encode()) <= 512, name
        assert not any(ord(char) < 32 or ord(char) == 127 for char in value)


def test_a_server_that_sees_no_token_starts_without_the_library() -> None:
    code = "import sys, lorebank.access.authenticate, lorebank.http.app; sys.exit('jwt' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
