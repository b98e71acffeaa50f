"""Bodies about a bank itself: profile, configuration, template, aliases."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, Field, ValidationInfo

from lorebank.service.requests.base import RequestModel, limits_of
from lorebank.service.requests.fields import BankName, Id, Level, Mission, wrong


class DispositionTraits(RequestModel):
    """How a bank's voice is shaped, 1 to 5 each."""

    skepticism: Level
    literalism: Level
    empathy: Level


class CreateBankRequest(RequestModel):
    """Profile and configuration of a bank; fields that were not sent stay as they are.

    `mission` and `background` are older names of `reflect_mission`; the name and the disposition
    are deprecated but still sent by clients.
    """

    name: BankName | None = None
    disposition: DispositionTraits | None = None
    disposition_skepticism: Level | None = None
    disposition_literalism: Level | None = None
    disposition_empathy: Level | None = None
    mission: Mission | None = None
    background: Mission | None = None
    reflect_mission: Mission | None = None
    retain_mission: Mission | None = None
    retain_extraction_mode: str | None = Field(default=None, max_length=200)
    retain_custom_instructions: Mission | None = None
    retain_chunk_size: int | None = None
    retain_structured_chunk_size: int | None = None
    retain_max_attachments_per_chunk: int | None = None
    enable_observations: bool | None = None
    observations_mission: Mission | None = None
    enable_text_search: bool | None = None
    enable_temporal_retrieval: bool | None = None
    enable_graph_retrieval: bool | None = None
    enable_reranking: bool | None = None


def _check_config(value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    most = limits_of(info).config_bytes
    if len(orjson.dumps(value)) > most:
        raise wrong(f"must be at most {most} bytes as JSON (setting LOREBANK_LIMIT_CONFIG_BYTES)", "too_long")
    return value


ConfigValues = Annotated[dict[str, Any], AfterValidator(_check_config)]


class BankConfigUpdate(RequestModel):
    """Configuration keys to set; a null removes the bank's own value. The handler checks the keys."""

    updates: ConfigValues


class BankTemplateManifest(RequestModel):
    """A bank's configuration as a template. Mental models and directives come as they were sent."""

    version: str = Field(max_length=50)
    bank: ConfigValues | None = None
    mental_models: list[dict[str, Any]] | None = Field(default=None, max_length=1000)
    directives: list[dict[str, Any]] | None = Field(default=None, max_length=1000)


class CreateBankAliasRequest(RequestModel):
    """Another name for a bank."""

    alias: Id
    primary: bool = False


class SetBankAliasPrimaryRequest(RequestModel):
    """Whether an alias is the one that is shown."""

    primary: bool
