"""Keys and mapped senders: who is recognised, and who no longer."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import jwt
import pytest

from lorebank.access.authenticate import Arrival, Authenticator, bearer
from lorebank.access.gateway_token import TokenRules
from lorebank.access.principal import UNMAPPED
from lorebank.errors import Unauthenticated
from small_directory import NOW, SECOND, SmallDirectory

SECRET = "a-secret-of-at-least-thirty-two-bytes"
RULES = TokenRules((SECRET,))


@pytest.fixture
def directory() -> SmallDirectory:
    made = SmallDirectory()
    made.put_user("alice")
    made.put_user("bob")
    made.put_account("robot", "alice")
    made.put_key("hc_u_alice_1", "alice", key_id="k1")
    made.put_key("hc_u_alice_2", "alice", key_id="k2", expires_at=NOW + 5 * SECOND)
    made.put_key("hc_sa_robot_1", "robot", key_id="k3")
    made.put_channel("telegram", "42", "bob")
    return made


def arrive(
    directory: SmallDirectory, header: str | None, rules: TokenRules = RULES, at: int = NOW
) -> Arrival:
    return Authenticator(directory, rules, now=lambda: at).authenticate(header)


def refused(directory: SmallDirectory, header: str | None, rules: TokenRules = RULES, at: int = NOW) -> str:
    with pytest.raises(Unauthenticated) as said:
        arrive(directory, header, rules, at)
    return said.value.message


def token(sender: str = "telegram:42", **claims: Any) -> str:
    seconds = NOW // SECOND
    return jwt.encode({"sender": sender, "iat": seconds, "exp": seconds + 60} | claims, SECRET)


@pytest.mark.parametrize(
    ("header", "credential"),
    [
        ("Bearer k", "k"),
        ("bearer   k ", "k"),
        ("BEARER k", "k"),
        ("k", "k"),
        ("Basic k", "Basic k"),
        ("Bearer", None),
        ("Bearer ", None),
        ("", None),
        ("  ", None),
        (None, None),
    ],
)
def test_a_credential_comes_with_or_without_its_scheme(header: str | None, credential: str | None) -> None:
    assert bearer(header) == credential


def test_a_key_tells_its_owner_and_its_use_is_noted(directory: SmallDirectory) -> None:
    user = arrive(directory, "Bearer hc_u_alice_1").principal
    account = arrive(directory, "hc_sa_robot_1").principal
    assert (user.kind, user.id, user.credential, user.by_token) == ("user", "alice", "k1", False)
    assert (account.kind, account.id, account.credential) == ("service_account", "robot", "k3")
    assert directory.uses == {"k1": NOW, "k3": NOW}


@pytest.mark.parametrize("key", ["hc_u_alice_", "hc_u_alice_11", "HC_U_ALICE_1", "x", "\xff", "\ud800", "k1"])
def test_an_unknown_key_is_refused_and_nothing_is_noted(directory: SmallDirectory, key: str) -> None:
    assert refused(directory, f"Bearer {key}") == "the API key is not valid"
    assert not directory.uses


def test_the_digest_of_a_key_is_no_key(directory: SmallDirectory) -> None:
    for stored in directory.data.keys:
        assert refused(directory, stored) == "the API key is not valid"


def test_a_key_ends_when_it_expires(directory: SmallDirectory) -> None:
    assert arrive(directory, "hc_u_alice_2", at=NOW + 5 * SECOND - 1).principal.id == "alice"
    assert "expired" in refused(directory, "hc_u_alice_2", at=NOW + 5 * SECOND)


def test_a_revoked_key_is_refused_at_once(directory: SmallDirectory) -> None:
    desk = Authenticator(directory, RULES, now=lambda: NOW)
    assert desk.authenticate("hc_u_alice_1").principal.id == "alice"
    directory.put_keys(one for one in directory.data.keys.values() if one.id != "k1")
    with pytest.raises(Unauthenticated):
        desk.authenticate("hc_u_alice_1")


def test_a_disabled_user_is_nobody_and_neither_are_his_accounts(directory: SmallDirectory) -> None:
    directory.put_user("alice", is_active=False)
    for key in ("hc_u_alice_1", "hc_sa_robot_1"):
        assert "not active" in refused(directory, key)
    directory.put_user("alice")
    for key in ("hc_u_alice_1", "hc_sa_robot_1"):
        assert arrive(directory, key).principal


def test_a_disabled_account_is_nobody_while_its_owner_is_somebody(directory: SmallDirectory) -> None:
    directory.put_account("robot", "alice", is_active=False)
    assert "service account" in refused(directory, "hc_sa_robot_1")
    assert arrive(directory, "hc_u_alice_1").principal.id == "alice"


def test_a_key_whose_owner_is_gone_is_refused(directory: SmallDirectory) -> None:
    directory.update(users={}, service_accounts={})
    for key in ("hc_u_alice_1", "hc_sa_robot_1"):
        assert "not active" in refused(directory, key)


def test_a_mapped_sender_is_his_user(directory: SmallDirectory) -> None:
    found = arrive(directory, f"Bearer {token(channel='group', agent='advisor')}")
    assert (found.principal.kind, found.principal.id) == ("user", "bob")
    assert found.principal.by_token and found.principal.credential is None
    assert found.principal.circumstances.channel == "group"
    assert (found.token_id, found.expires_at) == (None, None)


def test_an_unmapped_sender_is_a_stranger_with_a_name(directory: SmallDirectory) -> None:
    found = arrive(directory, token("telegram:43")).principal
    assert (found.kind, found.id, found.name) == ("unmapped", UNMAPPED, "unmapped:telegram:43")
    assert arrive(directory, token("slack:42")).principal.kind == "unmapped"


def test_a_provider_claim_does_not_change_whom_the_sender_is_mapped_to(directory: SmallDirectory) -> None:
    assert arrive(directory, token("slack:42", provider="telegram")).principal.kind == "unmapped"


def test_a_sender_whose_user_is_disabled_is_refused_not_demoted(directory: SmallDirectory) -> None:
    directory.put_user("bob", is_active=False)
    assert "not active" in refused(directory, token())
    directory.update(users={})
    assert "not active" in refused(directory, token())


def test_a_token_with_an_id_is_spent_on_one_request(directory: SmallDirectory) -> None:
    desk = Authenticator(directory, RULES, now=lambda: NOW)
    found = desk.authenticate(token(jti="j"))
    desk.claim(found, "a" * 64)
    desk.claim(found, "a" * 64)
    with pytest.raises(Unauthenticated, match="used already"):
        desk.claim(found, "b" * 64)
    ((_, until),) = directory.claims.values()
    assert until > NOW + 60 * SECOND


def test_what_has_no_token_id_is_never_spent(directory: SmallDirectory) -> None:
    desk = Authenticator(directory, RULES, now=lambda: NOW)
    for header in ("hc_u_alice_1", token()):
        for digest in ("a" * 64, "b" * 64):
            desk.claim(desk.authenticate(header), digest)
    assert not directory.claims


def test_without_a_secret_the_operator_is_told_once_and_the_caller_nothing(
    directory: SmallDirectory, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Authenticator(directory, now=lambda: NOW)
    for _ in range(3):
        with pytest.raises(Unauthenticated) as said:
            desk.authenticate(token())
        assert said.value.message == "the token is not valid"
    told = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    assert len(told) == 1 and "LOREBANK_TOKEN_SECRETS" in told[0]


def test_a_short_secret_is_told_at_the_start_without_being_shown(
    directory: SmallDirectory, caplog: pytest.LogCaptureFixture
) -> None:
    Authenticator(directory, replace(RULES, secrets=("tiny-one", SECRET)))
    (told,) = [one.getMessage() for one in caplog.records]
    assert "32 bytes" in told and "tiny-one" not in told
    caplog.clear()
    Authenticator(directory, RULES)
    assert not caplog.records
