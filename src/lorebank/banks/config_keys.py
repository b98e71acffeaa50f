"""The table of settings that a bank may set, and the check of one value against it.

The names are those of the Hindsight wire contract. `used` settings change what lorebank does
now; the others belong to reasoning, are checked by type, stored and returned, and change nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lorebank.errors import BadRequest, FieldProblem

Kind = Literal["bool", "int", "number", "text", "choice", "texts", "object", "objects", "list", "scopes"]

EXTRACTION_MODES = ("local", "chunks", "verbatim", "concise", "verbose", "custom")
SCOPE_MODES = ("per_tag", "combined", "all_combinations", "shared")
LABEL_TYPES = ("value", "multi-values", "text", "multi-text", "map")
_BIG = 10**9


@dataclass(frozen=True, slots=True)
class Key:
    """One setting: its type, inclusive range, choices, default, and what it means."""

    name: str
    kind: Kind
    default: Any
    meaning: str
    low: float = 0
    high: float = _BIG
    choices: tuple[str, ...] = ()
    used: bool = True


def _switch(name: str, default: bool | None, meaning: str, *, used: bool = True) -> Key:
    return Key(name, "bool", default, meaning, used=used)


def _later(name: str, kind: Kind, meaning: str, low: float = 0, high: float = _BIG) -> Key:
    return Key(name, kind, None, meaning, low, high, used=False)


_RETAIN = (
    Key(
        "retain_extraction_mode",
        "choice",
        "local",
        "how facts are found in content: by local rules, as whole chunks, or by a language model",
        choices=EXTRACTION_MODES,
    ),
    Key("retain_chunk_size", "int", 3000, "characters of a chunk of prose", 100, 1_000_000),
    Key(
        "retain_structured_chunk_size",
        "int",
        None,
        "largest turn or line, in characters, that is kept whole; unset: retain_chunk_size",
        100,
        1_000_000,
    ),
    Key("retain_default_strategy", "text", None, "the strategy of items that name none"),
    Key("retain_strategies", "object", {}, "strategy name -> settings that replace the bank's for an item"),
    Key("retain_mission", "text", "", "what to look for in content; recorded for extraction by a model"),
    Key("entity_labels", "objects", (), "groups of labels that retain fills and stores as entities or tags"),
    _switch("entities_allow_free_form", True, "whether entities besides the labels are kept"),
    _switch("store_document_text", True, "whether the text of documents is kept; append needs it"),
    _later("retain_custom_instructions", "text", "instructions of the extraction mode 'custom'"),
    _later("retain_chunk_batch_size", "int", "chunks that one extraction call reads", 1),
    _later("retain_max_attachments_per_chunk", "int", "attachments that one chunk may carry"),
)

_RECALL = (
    _switch("enable_semantic_retrieval", True, "whether recall compares meanings"),
    _switch("enable_text_search", True, "whether recall compares words"),
    _switch("enable_temporal_retrieval", True, "whether recall uses dates in the query"),
    _switch("enable_graph_retrieval", True, "whether recall follows entities and links"),
    _switch("enable_reranking", None, "cross-encoder: true always, false never, unset for budget high only"),
    Key(
        "recall_budget_function",
        "choice",
        "fixed",
        "whether candidates per arm are a fixed number or grow with max_tokens",
        choices=("fixed", "adaptive"),
    ),
    Key("recall_budget_fixed_low", "int", 100, "candidates per arm, budget low", 1, 100_000),
    Key("recall_budget_fixed_mid", "int", 300, "candidates per arm, budget mid", 1, 100_000),
    Key("recall_budget_fixed_high", "int", 1000, "candidates per arm, budget high", 1, 100_000),
    Key("recall_budget_adaptive_low", "number", 0.025, "candidates per token of max_tokens, low", 0, 100),
    Key("recall_budget_adaptive_mid", "number", 0.075, "candidates per token of max_tokens, mid", 0, 100),
    Key("recall_budget_adaptive_high", "number", 0.25, "candidates per token of max_tokens, high", 0, 100),
    Key("recall_budget_min", "int", 20, "fewest candidates of an adaptive budget", 1, 100_000),
    Key("recall_budget_max", "int", 2000, "most candidates of an adaptive budget", 1, 100_000),
    _switch("recall_include_chunks", False, "whether recall returns source chunks unless the request says"),
    _switch("recall_prefer_observations", False, "whether observations displace the facts they rest on"),
    Key("recall_max_tokens", "int", 4096, "tokens of the recalled facts", 1, 10_000_000),
    Key("recall_chunks_max_tokens", "int", 8192, "tokens of the chunks returned with them", 0, 10_000_000),
)

_GENERAL = (
    _switch("audit_log_enabled", False, "whether calls on the bank are recorded"),
    Key("disposition_skepticism", "int", 3, "how much reflection doubts", 1, 5),
    Key("disposition_literalism", "int", 3, "how literally reflection reads", 1, 5),
    Key("disposition_empathy", "int", 3, "how much reflection minds feelings", 1, 5),
    Key("reflect_mission", "text", "", "what the bank is for; the wire's 'mission' of a bank"),
    _later("mcp_enabled_tools", "texts", "MCP tools that the bank offers; unset: all"),
    _later("memory_defense", "object", "screening of content before it is retained"),
    _later("llm_gemini_safety_settings", "list", "safety settings that are passed to one provider"),
)

_REASONING = (
    _later("enable_observations", "bool", "whether facts are consolidated into observations"),
    _later("enable_auto_consolidation", "bool", "whether consolidation follows each retain"),
    _later("observations_mission", "text", "what observations shall be about"),
    _later("consolidation_use_decision_model", "bool", "whether a small model decides the easy cases"),
    _later("consolidation_llm_batch_size", "int", "facts of one consolidation call", 1),
    _later("consolidation_llm_parallelism", "int", "consolidation calls at once", 1),
    _later("consolidation_max_memories_per_round", "int", "facts of one consolidation round", 1),
    _later("consolidation_source_facts_max_tokens", "int", "tokens of source facts; -1: no cap", -1),
    _later("consolidation_source_facts_max_tokens_per_observation", "int", "the same, per observation", -1),
    _later("max_observations_per_scope", "int", "observations of one scope; -1: no cap", -1),
    _later("observation_scope_limits", "objects", "caps of single scopes"),
    _later("default_observation_scopes", "scopes", "scopes that a fact's observations get"),
    _later("consolidation_strategies", "objects", "ordered settings by scope"),
    _later("mental_model_min_refresh_interval_seconds", "int", "seconds between two refreshes"),
    _later("mental_model_refresh_use_decision_model", "bool", "whether a small model checks refreshes"),
    _later("mental_model_delta_use_decision_model", "bool", "whether a small model checks edits"),
    _later("knowledge_page_default_trigger", "object", "when new knowledge pages are refreshed"),
    _later("reflect_use_decision_model", "bool", "whether a small model plans reflection"),
    _later("reflect_source_facts_max_tokens", "int", "tokens of source facts in reflection; -1: no cap", -1),
    _later("reflect_default_options", "object", "options of reflect requests that name none"),
)

KEYS: Mapping[str, Key] = {key.name: key for key in (*_RETAIN, *_RECALL, *_GENERAL, *_REASONING)}
#: What a strategy may not contain: strategies do not nest.
NOT_IN_STRATEGY = frozenset({"retain_strategies", "retain_default_strategy"})


def problem(name: str, message: str) -> BadRequest:
    """The error for one setting."""
    text = f"{name} {message}"
    return BadRequest(text, fields=[FieldProblem(("updates", name), text)])


def check(name: str, value: Any, *, text_chars: int) -> Any:
    """`value` as setting `name` stores it; `BadRequest` naming the setting when it does not fit.

    Texts may have up to `text_chars` characters. Whole floats count as integers.
    """
    key = KEYS.get(name)
    if key is None:
        raise problem(name, "cannot be set for a bank; GET the bank's config to see what can")
    _check_texts(name, value)
    if key.kind in ("int", "number"):
        return _number(key, value)
    if key.kind == "text" and isinstance(value, str):
        if len(value) > text_chars:
            raise problem(name, f"must have at most {text_chars} characters")
        return value
    if key.kind == "choice":
        if value not in key.choices:
            raise problem(name, f"must be one of {', '.join(key.choices)}")
        return value
    if name == "entity_labels":
        return check_labels(value)
    return _structure(key, value, text_chars)


def _shown(bound: float) -> str:
    return f"{bound:,.0f}" if float(bound).is_integer() else f"{bound:g}"


def _number(key: Key, value: Any) -> int | float:
    whole = key.kind == "int"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise problem(key.name, "must be a whole number" if whole else "must be a number")
    if not key.low <= value <= key.high:  # false for NaN as well
        raise problem(key.name, f"must be between {_shown(key.low)} and {_shown(key.high)}")
    if whole and value != int(value):
        raise problem(key.name, "must be a whole number")
    return int(value) if whole else float(value)


def _structure(key: Key, value: Any, text_chars: int) -> Any:
    if key.name == "retain_strategies":
        return _strategies(value, text_chars)
    fits, wanted = {
        "bool": (isinstance(value, bool), "true or false"),
        "text": (isinstance(value, str), "a text"),
        "texts": (_is_list_of(value, str), "a list of texts"),
        "object": (isinstance(value, dict), "an object"),
        "objects": (_is_list_of(value, dict), "a list of objects"),
        "list": (isinstance(value, list), "a list"),
        "scopes": (_is_scopes(value), f"one of {', '.join(SCOPE_MODES)}, or a list of lists of tags"),
    }[key.kind]
    if not fits:
        raise problem(key.name, f"must be {wanted}")
    return value


def _is_list_of(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _is_scopes(value: Any) -> bool:
    return (
        value in SCOPE_MODES
        if isinstance(value, str)
        else (isinstance(value, list) and all(_is_list_of(scope, str) for scope in value))
    )


def _strategies(value: Any, text_chars: int) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict):
        raise problem("retain_strategies", "must be an object: strategy name -> settings")
    made: dict[str, dict[str, Any]] = {}
    for name, settings in value.items():
        where = f"retain_strategies.{name}"
        if not str(name).strip() or not isinstance(settings, dict):
            raise problem(where, "must be an object with settings, under a name that is not empty")
        if nested := sorted(NOT_IN_STRATEGY & settings.keys()):
            raise problem(f"{where}.{nested[0]}", "cannot be set in a strategy")
        made[name] = {k: check(k, v, text_chars=text_chars) for k, v in settings.items() if v is not None}
    return made


def check_labels(value: Any) -> list[dict[str, Any]]:
    """`entity_labels` as given, once every group has a key of its own, a known type and named values."""
    if not _is_list_of(value, dict):
        raise problem("entity_labels", "must be a list of label groups")
    seen: set[str] = set()
    for index, group in enumerate(value):
        where = f"entity_labels[{index}]"
        key = group.get("key")
        if not isinstance(key, str) or not key.strip():
            raise problem(where, "needs a 'key'")
        if key in seen:
            raise problem(where, f"repeats the key '{key}'")
        seen.add(key)
        if group.get("type") not in (None, *LABEL_TYPES):
            raise problem(f"{where}.type", f"must be one of {', '.join(LABEL_TYPES)}")
        _check_label_values(where, group.get("values"))
    return list(value)


def _check_label_values(where: str, values: Any) -> None:
    if values is None:
        return
    if not _is_list_of(values, dict) or not all(isinstance(v.get("value"), str) for v in values):
        raise problem(f"{where}.values", "must be a list of objects with a 'value'")


def _check_texts(name: str, value: Any) -> None:
    """Every text inside `value` can be stored: no NUL, no lone surrogate; every number is finite."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as exc:  # UnicodeEncodeError is a ValueError
        raise problem(name, "must be plain JSON with finite numbers and no lone surrogates") from exc
    if any("\0" in text for text in _texts(value)):
        raise problem(name, "must not contain NUL")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
