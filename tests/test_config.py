"""Settings: read from flags, environment and profile; what cannot be honoured is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from lorebank.config import load
from lorebank.errors import InvalidInput


def test_a_flag_beats_the_environment() -> None:
    settings = load({"port": 1, "host": None}, {"LOREBANK_PORT": "2", "LOREBANK_HOST": "::1", "HOME": "/h"})
    assert (settings.port, settings.host) == (1, "::1")


@pytest.mark.parametrize(
    "environ",
    [
        {"LOREBANK_PROT": "1"},
        {"LOREBANK_": "1"},
        {"LOREBANK_LIMITS": "1"},
        {"LOREBANK_LIMIT_NONE": "1"},
        {"LOREBANK_PORT": "eighty"},
        {"LOREBANK_PORT": "70000"},
        {"LOREBANK_EMBED_TIMEOUT": "nan"},
        {"LOREBANK_NO_AUTH": "perhaps"},
        {"LOREBANK_LIMIT_ITEMS": "0"},
        {"HINDSIGHT_API_DATABASE_URL": "postgres://x"},
    ],
)
def test_a_setting_that_cannot_be_honoured_is_refused(environ: dict[str, str]) -> None:
    (name,) = environ
    with pytest.raises(InvalidInput) as refused:
        load({}, environ)
    said = refused.value.message.upper()
    assert name in said or name.removeprefix("LOREBANK_").removeprefix("LIMIT_") in said


def test_the_names_that_commands_read_are_no_settings() -> None:
    load({}, {"LOREBANK_URL": "http://127.0.0.1:1", "LOREBANK_API_KEY": "k", "LOREBANK_PROFILE": "p"})


@pytest.mark.parametrize("key", ["é", " k", "k\t", "k\x7f", " "])
def test_a_root_key_that_no_header_can_carry_is_refused(key: str) -> None:
    with pytest.raises(InvalidInput, match="root_api_key"):
        load({}, {"LOREBANK_ROOT_API_KEY": key})


@pytest.mark.parametrize(
    "name", [" ", "sa:x", "_unmapped", "local:me", "user:root", "unmapped:web:1", "a\tb", "x" * 5000]
)
def test_a_root_user_whom_no_request_could_name_is_refused(name: str) -> None:
    for source in ("LOREBANK_ROOT_USER", "HINDCLAW_ROOT_USER"):
        with pytest.raises(InvalidInput, match="root_user"):
            load({}, {source: name})


def test_a_root_user_gets_the_id_that_requests_look_for() -> None:
    assert load({}, {"LOREBANK_ROOT_USER": "Rene\u0301"}).root_user == "Ren\u00e9"


def test_a_root_key_of_plain_letters_is_taken() -> None:
    assert load({}, {"LOREBANK_ROOT_API_KEY": "hc_u_0f"}).root_api_key == "hc_u_0f"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, ("root", "", ())),
        (
            {"HINDCLAW_ROOT_USER": "admin", "HINDCLAW_ROOT_API_KEY": "k1", "HINDCLAW_JWT_SECRET": "s1"},
            ("admin", "k1", ("s1",)),
        ),
        (
            {"HINDSIGHT_API_TENANT_API_KEY": "k2", "HINDSIGHT_API_TENANT_JWT_SECRET": "one, secret"},
            ("root", "k2", ("one, secret",)),
        ),
        ({"HINDCLAW_ROOT_API_KEY": "k1", "HINDSIGHT_API_TENANT_API_KEY": "k2"}, ("root", "k1", ())),
        ({"HINDCLAW_JWT_SECRET": "", "HINDSIGHT_API_TENANT_JWT_SECRET": "s2"}, ("root", "", ("s2",))),
        (
            {
                "LOREBANK_ROOT_USER": "me",
                "LOREBANK_ROOT_API_KEY": "k0",
                "LOREBANK_TOKEN_SECRETS": "new, old",
                "HINDCLAW_ROOT_USER": "admin",
                "HINDCLAW_ROOT_API_KEY": "k1",
                "HINDCLAW_JWT_SECRET": "s1",
            },
            ("me", "k0", ("new", "old")),
        ),
    ],
)
def test_the_names_of_other_servers_are_read_and_our_own_win(
    environ: dict[str, str], expected: tuple[str, str, tuple[str, ...]]
) -> None:
    found = load({}, environ)
    assert (found.root_user, found.root_api_key, found.token_secrets) == expected


def test_a_profile_beats_the_names_of_other_servers_and_may_list_secrets(tmp_path: Path) -> None:
    profile = tmp_path / "p.toml"
    profile.write_text('root_api_key = "mine"\ntoken_secrets = ["with, comma", "b"]\n', encoding="utf-8")
    found = load({}, {"HINDCLAW_ROOT_API_KEY": "k1", "HINDCLAW_JWT_SECRET": "s1"}, profile)
    assert (found.root_api_key, found.token_secrets) == ("mine", ("with, comma", "b"))


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("token_lifetime", ("1", "900", "86400"), ("0", "-1", "86401", "true", "9.5")),
        ("token_leeway", ("0", "300"), ("-1", "301")),
        ("audit_days", ("0", "36500"), ("-1", "36501", "ever")),
        ("token_admin", ("true", "0"), ("perhaps",)),
        ("token_secrets", ("a", "a,b"), ("a,,b", ",", "a,")),
    ],
)
def test_settings_of_tokens_and_audit_are_bounded(
    name: str, good: tuple[str, ...], bad: tuple[str, ...]
) -> None:
    for value in good:
        load({}, {f"LOREBANK_{name.upper()}": value})
    for value in bad:
        with pytest.raises(InvalidInput, match=name):
            load({}, {f"LOREBANK_{name.upper()}": value})


def test_a_root_key_that_looks_like_a_token_is_refused() -> None:
    with pytest.raises(InvalidInput, match="root_api_key"):
        load({}, {"HINDCLAW_ROOT_API_KEY": "eyJhbGciOi"})


def test_secrets_are_not_in_the_text_of_settings() -> None:
    found = load({}, {"LOREBANK_ROOT_API_KEY": "hush-key", "LOREBANK_TOKEN_SECRETS": "hush-token"})
    assert "hush" not in repr(found)
