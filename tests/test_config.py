"""Settings: read from flags, environment and profile; what cannot be honoured is refused by name."""

from __future__ import annotations

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


def test_a_root_key_of_plain_letters_is_taken() -> None:
    assert load({}, {"LOREBANK_ROOT_API_KEY": "hc_u_0f"}).root_api_key == "hc_u_0f"
