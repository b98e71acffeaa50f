"""Settings: frozen, read once. A flag beats the environment, that the profile, that the default.

Every setting is `LOREBANK_<NAME>` in the environment and `<name>` in a profile file. A setting
that lorebank cannot honour is refused, never ignored.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from lorebank.errors import BadRequest, InvalidInput
from lorebank.ids import check_id, names_another
from lorebank.limits import Limits

ENV_PREFIX = "LOREBANK_"
LIMIT_PREFIX = "limit_"
BANK_PREFIX = "bank_"
COMMAND_NAMES = frozenset(["url", "api_key", "profile"])
"""What `LOREBANK_*` names besides settings: where commands find a server (`lorebank.cli`)."""

_DATA_DIR = Path("~/.lorebank")
#: Environment names of other servers that we refuse, with what to do instead.
REFUSED = {
    "HINDSIGHT_API_DATABASE_URL": (
        "lorebank keeps its data in its own data directory and cannot use a database server yet; "
        "unset HINDSIGHT_API_DATABASE_URL (PostgreSQL support is planned)"
    ),
}
#: Names that other servers use for the same thing, the strongest first. Lorebank's own names win.
SYNONYMS = {
    "root_user": ("HINDCLAW_ROOT_USER",),
    "root_api_key": ("HINDCLAW_ROOT_API_KEY", "HINDSIGHT_API_TENANT_API_KEY"),
    "token_secrets": ("HINDCLAW_JWT_SECRET", "HINDSIGHT_API_TENANT_JWT_SECRET"),
}
STATE_DIR = "OPENCLAW_STATE_DIR"
"""Where an OpenClaw gateway keeps its state; knowledge is kept in `knowledge` below it (seed 000)."""
#: Smallest and largest value of numbers that may not be anything from 0 to 1,000,000,000.
BOUNDS = {
    "port": (0, 65_535),
    "open_stores": (1, 10**9),
    "model_threads": (1, 10**9),
    "job_workers": (1, 10**9),
    "token_lifetime": (1, 86_400),
    "token_leeway": (0, 300),
    "audience_lifetime": (1, 86_400),
    "audit_days": (0, 36_500),
}


def setting(default: Any, meaning: str, *, choices: tuple[str, ...] = (), secret: bool = False) -> Any:
    """A settings field with its documentation, allowed values, and whether it is never shown."""
    metadata = {"doc": meaning, "choices": choices, "secret": secret}
    return field(default=default, repr=not secret, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one server or command."""

    data_dir: Path = setting(_DATA_DIR, "where everything is kept")
    host: str = setting("127.0.0.1", "address to listen on")
    port: int = setting(8888, "port to listen on")
    no_auth: bool = setting(False, "serve without keys; loopback only")
    root_user: str = setting("root", "name of the root user")
    root_api_key: str = setting("", "the root user's key; empty: lorebank makes one", secret=True)
    log_level: str = setting("info", "how much is logged", choices=("debug", "info", "warning", "error"))
    log_format: str = setting("text", "form of log lines", choices=("text", "json"))
    debug: bool = setting(False, "let query and memory text into the log")
    idle_timeout: float = setting(0.0, "seconds without a request after which the server ends; 0: never")
    open_stores: int = setting(128, "stores that are open at once")
    embedder: str = setting("local", "where vectors come from", choices=("local", "hosted", "none"))
    embed_base_url: str = setting("", "address of an OpenAI-compatible embeddings API")
    embed_api_key: str = setting("", "its key", secret=True)
    embed_model: str = setting("", "its model")
    embed_dimension: int = setting(0, "numbers in one of its vectors")
    embed_timeout: float = setting(30.0, "seconds that one call to an embedder may take")
    reranker: str = setting("local", "cross-encoder for the budget `high`", choices=("local", "none"))
    rerank_timeout: float = setting(10.0, "seconds that reordering may take before recall answers without it")
    weights_dir: str = setting("", "folder with the local models' weights; empty: the installed package")
    recall_wait: float = setting(
        1.0, "seconds that a recall waits at most for the vectors of what was just retained; 0: never"
    )
    model_threads: int = setting(2, "threads that run local models")
    llm_provider: str = setting(
        "", "language model API, for later releases", choices=("", "openai", "anthropic")
    )
    llm_base_url: str = setting("", "its address")
    llm_api_key: str = setting("", "its key", secret=True)
    llm_model: str = setting("", "its model")
    job_workers: int = setting(2, "jobs that run at once")
    job_retries: int = setting(3, "times a failed job is tried again")
    job_backoff: float = setting(60.0, "seconds before a failed job is tried again, doubled each time")
    job_lease: float = setting(60.0, "seconds a job may go without a sign of life")
    token_secrets: tuple[str, ...] = setting(
        (), "secrets that gateway tokens may be signed with, separated by commas", secret=True
    )
    token_lifetime: int = setting(900, "seconds that a gateway token may live at most")
    token_leeway: int = setting(30, "seconds by which the clocks of gateway and server may differ")
    token_admin: bool = setting(False, "let gateway tokens open the admin API to users who may use it")
    audience_secrets: tuple[str, ...] = setting(
        (),
        "secrets of hosts' audience tokens, separated by commas; none: the one in `audience.key`",
        secret=True,
    )
    audience_lifetime: int = setting(900, "seconds that an audience token may live at most")
    knowledge_dir: str = setting(
        "", "folder of the knowledge stores; empty: `knowledge` in `OPENCLAW_STATE_DIR` or in `data_dir`"
    )
    knowledge_config: str = setting(
        "", "file with the store map; empty: `knowledge.json5` in `data_dir`; a gateway's own file will do"
    )
    watch_vaults: bool = setting(True, "watch the files of knowledge stores; false: look at all at each read")
    audit_days: int = setting(0, "days that rows of the audit log are kept; 0: for ever")
    limits: Limits = field(default_factory=Limits)
    bank_defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def knowledge_folder(self) -> Path:
        """Where the knowledge stores and their registry are."""
        return Path(self.knowledge_dir) if self.knowledge_dir else self.data_dir / "knowledge"

    @property
    def knowledge_file(self) -> Path:
        """The file with the store map; it need not be there."""
        return Path(self.knowledge_config) if self.knowledge_config else self.data_dir / "knowledge.json5"


def load(
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    profile: Path | None = None,
) -> Settings:
    """The settings in force; `InvalidInput` that names the wrong setting and its source."""
    env = os.environ if environ is None else environ
    for name, why in REFUSED.items():
        if env.get(name):
            raise InvalidInput(why)
    values = _from_synonyms(env) | _from_profile(profile) | _from_environment(env) | _given(flags or {})
    limits = {k[len(LIMIT_PREFIX) :]: v for k, v in values.items() if k.startswith(LIMIT_PREFIX)}
    banks = {k[len(BANK_PREFIX) :]: v for k, v in values.items() if k.startswith(BANK_PREFIX)}
    known = {f.name: f for f in fields(Settings)}
    plain = {k: v for k, v in values.items() if not k.startswith((LIMIT_PREFIX, BANK_PREFIX))}
    for name in plain:
        if name not in known or name in ("limits", "bank_defaults"):
            raise InvalidInput(f"unknown setting '{name}'")
    made = {name: _convert(name, known[name], value) for name, value in plain.items()}
    made["data_dir"] = Path(made.get("data_dir", known["data_dir"].default)).expanduser().absolute()
    for name in ("knowledge_dir", "knowledge_config"):
        if made.get(name):
            made[name] = str(Path(made[name]).expanduser().absolute())
    _check_root_key(made.get("root_api_key", ""))
    if "root_user" in made:
        made["root_user"] = _user_id(made["root_user"])
    return Settings(**made, limits=_limits(limits), bank_defaults={k: _json(v) for k, v in banks.items()})


def _check_root_key(key: str) -> None:
    """A key that no `Authorization` header can carry unchanged would lock everybody out."""
    if not (key.isascii() and key.isprintable() and key == key.strip()):
        raise InvalidInput("root_api_key must be printable ASCII without spaces at its ends")
    if key.startswith("eyJ"):
        raise InvalidInput("root_api_key must not begin with 'eyJ', as gateway tokens do")


def _user_id(name: str) -> str:
    """The root user's id by the rules for every user's: requests find him under it, and no principal is
    taken for him."""
    try:
        normal = check_id(name, "root_user")
    except BadRequest as exc:
        raise InvalidInput(exc.message, cause=exc) from exc
    if (wrong := names_another(normal)) is not None:
        raise InvalidInput(f"root_user {wrong}")
    return normal


def _given(flags: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in flags.items() if value is not None}


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    names = {f.name for f in fields(Settings)}
    found = {}
    for key, value in env.items():
        name = key[len(ENV_PREFIX) :].lower()
        # An empty variable counts as unset, as scripts that pass everything on expect.
        if not value or not key.startswith(ENV_PREFIX) or name in COMMAND_NAMES:
            continue
        if name not in names and not name.startswith((LIMIT_PREFIX, BANK_PREFIX)):
            raise InvalidInput(f"unknown setting '{key}' in the environment; correct its name or unset it")
        found[name] = value
    return found


def _from_synonyms(env: Mapping[str, str]) -> dict[str, Any]:
    """What is set under other servers' names. Their one secret may hold a comma: it is not split."""
    found: dict[str, Any] = {}
    for name, others in SYNONYMS.items():
        value = next((env[other] for other in others if env.get(other)), None)
        if value is not None:
            found[name] = [value] if name == "token_secrets" else value
    if env.get(STATE_DIR):
        found["knowledge_dir"] = str(Path(env[STATE_DIR]) / "knowledge")
    return found


def _from_profile(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        raise InvalidInput(
            f"there is no profile '{path.stem}'; make it with 'lorebank configure'", cause=exc
        ) from exc
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise InvalidInput(f"the profile '{path.stem}' cannot be read: {exc}", cause=exc) from exc


def _limits(values: Mapping[str, Any]) -> Limits:
    known = {f.name: f for f in fields(Limits)}
    made: dict[str, int] = {}
    for name, value in values.items():
        if name not in known:
            raise InvalidInput(f"unknown limit '{name}'")
        low, high = known[name].metadata["low"], known[name].metadata["high"]
        number = _integer(LIMIT_PREFIX + name, value)
        if not low <= number <= high:
            raise InvalidInput(f"limit_{name} must be between {low} and {high}")
        made[name] = number
    return Limits(**made)


def _convert(name: str, spec: Any, value: Any) -> Any:
    choices = spec.metadata.get("choices", ())
    if choices and value not in choices:
        raise InvalidInput(f"{name} must be one of: {', '.join(c or '(empty)' for c in choices)}")
    default = spec.default
    if isinstance(default, bool):
        return _boolean(name, value)
    if isinstance(default, int):
        return _bounded(name, _integer(name, value))
    if isinstance(default, float):
        return _bounded(name, _number(name, value))
    if isinstance(default, tuple):
        return _texts(name, value)
    return str(value)


def _bounded(name: str, number: Any) -> Any:
    low, high = BOUNDS.get(name, (0, 10**9))
    if not low <= number <= high:
        raise InvalidInput(f"{name} must be between {low} and {high}")
    return number


def _texts(name: str, value: Any) -> tuple[str, ...]:
    """A list as it is, or a text with commas; spaces around a comma do not count."""
    parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) and part for part in parts):
        raise InvalidInput(f"{name} must be a list of texts, none of them empty")
    return tuple(parts)


def _boolean(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off", ""):
        return False
    raise InvalidInput(f"{name} must be true or false")


def _integer(name: str, value: Any) -> int:
    try:
        return int(str(value).strip())
    except ValueError as exc:
        raise InvalidInput(f"{name} must be a whole number", cause=exc) from exc


def _number(name: str, value: Any) -> float:
    try:
        number = float(str(value).strip())
    except ValueError as exc:
        raise InvalidInput(f"{name} must be a number", cause=exc) from exc
    if number != number or number in (float("inf"), float("-inf")):
        raise InvalidInput(f"{name} must be a finite number")
    return number


def _json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
