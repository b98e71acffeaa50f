"""Making, listing, changing and deleting banks; their settings and other names."""

from __future__ import annotations

import threading

import pytest
from bank_server import READER, STRANGER, Server
from hindsight_client_api.models.bank_aliases_response import BankAliasesResponse
from hindsight_client_api.models.bank_config_response import BankConfigResponse
from hindsight_client_api.models.bank_list_response import BankListResponse
from hindsight_client_api.models.bank_profile_response import BankProfileResponse
from hindsight_client_api.models.bank_template_import_response import BankTemplateImportResponse
from hindsight_client_api.models.bank_template_manifest import BankTemplateManifest
from hindsight_client_api.models.delete_response import DeleteResponse

from lorebank.errors import BadRequest, Conflict, Forbidden, InvalidInput, NeedsLLM, NotFound


def test_put_makes_a_bank_and_echoes_its_mission(server: Server) -> None:
    body = {
        "name": "Team",
        "mission": "Remember decisions.",
        "disposition": {"skepticism": 5, "literalism": 1, "empathy": 2},
    }
    made = server.call("create_or_update_bank", "team/ä", body)
    profile = BankProfileResponse.from_dict(made)
    assert profile is not None
    assert (profile.bank_id, profile.name, profile.mission) == ("team/ä", "Team", "Remember decisions.")
    assert profile.disposition.skepticism == 5
    assert server.call("get_bank_profile", "team/ä") == made
    assert server.call("get_bank_config", "team/ä")["overrides"]["reflect_mission"] == "Remember decisions."


def test_put_again_changes_only_what_is_sent(server: Server) -> None:
    server.call("create_or_update_bank", "b", {"name": "First", "mission": "one", "retain_chunk_size": 500})
    changed = server.call("create_or_update_bank", "b", {"name": None, "mission": "two"})
    assert (changed["name"], changed["mission"]) == ("First", "two")
    assert server.call("get_bank_config", "b")["config"]["retain_chunk_size"] == 500


def test_a_put_with_a_bad_setting_makes_no_bank(server: Server) -> None:
    with pytest.raises(BadRequest, match="retain_extraction_mode"):
        server.call("create_or_update_bank", "b", {"retain_extraction_mode": "psychic"})
    with pytest.raises(NotFound, match="Bank 'b' not found"):
        server.call("get_bank_profile", "b")


def test_patch_does_not_make_a_bank(server: Server) -> None:
    with pytest.raises(NotFound, match="Bank 'b' not found"):
        server.call("update_bank", "b", {"name": "x"})


def test_banks_are_listed_with_their_numbers(server: Server) -> None:
    server.retain("notes", {"content": "Ada met Grace in Paris.", "document_id": "d1"})
    server.call("create_or_update_bank", "empty", {})
    server.call("create_bank_alias", "notes", {"alias": "diary", "primary": True})
    listed = BankListResponse.from_dict(server.call("list_banks"))
    assert listed is not None and listed.total == 2
    empty, notes = listed.banks
    assert (empty.bank_id, empty.fact_count, empty.last_write_at) == ("empty", 0, None)
    assert notes.fact_count == len(server.memories("notes")) > 0
    assert notes.display_alias == "diary" and notes.last_write_at is not None
    found = server.call("list_banks", q="DIA")
    assert [bank["bank_id"] for bank in found["banks"]] == ["notes"]
    assert found["banks"][0]["matched_aliases"] == ["diary"]
    assert server.call("list_banks", limit=1, offset=1)["banks"][0]["bank_id"] == "notes"


def test_deleting_a_bank_counts_what_went(server: Server) -> None:
    server.retain("b", {"content": "Ada met Grace in Paris.", "document_id": "d1"})
    stats = server.call("get_agent_stats", "b")
    gone = DeleteResponse.from_dict(server.call("delete_bank", "b"))
    assert gone is not None and gone.success is True
    assert gone.deleted_count == stats["total_nodes"] + stats["total_documents"] + stats["total_entities"]
    with pytest.raises(NotFound):
        server.call("delete_bank", "b")


def test_an_alias_opens_its_bank(server: Server) -> None:
    server.call("create_or_update_bank", "b", {"name": "Real"})
    answer = BankAliasesResponse.from_dict(server.call("create_bank_alias", "b", {"alias": "Ärger/1"}))
    assert answer is not None and [entry.alias for entry in answer.aliases] == ["Ärger/1"]
    assert server.call("get_bank_profile", "Ärger/1")["bank_id"] == "b"
    server.call("delete_bank_alias", "b", alias="Ärger/1")
    with pytest.raises(NotFound):
        server.call("get_bank_profile", "Ärger/1")


def test_only_one_alias_is_primary(server: Server) -> None:
    server.call("create_or_update_bank", "b", {})
    server.call("create_bank_alias", "b", {"alias": "x", "primary": True})
    server.call("create_bank_alias", "b", {"alias": "y", "primary": True})
    assert _primaries(server) == ["y"]
    server.call("set_bank_alias_primary", "b", {"primary": True}, alias="x")
    assert _primaries(server) == ["x"]
    server.call("set_bank_alias_primary", "b", {"primary": False}, alias="x")
    assert _primaries(server) == []


def _primaries(server: Server) -> list[str]:
    aliases = server.call("list_bank_aliases", "b")["aliases"]
    return [entry["alias"] for entry in aliases if entry["primary"]]


def test_an_alias_cannot_name_two_banks(server: Server) -> None:
    for bank in ("a", "b"):
        server.call("create_or_update_bank", bank, {})
    server.call("create_bank_alias", "a", {"alias": "x"})
    for bank, alias in (("b", "x"), ("a", "x"), ("a", "b")):
        with pytest.raises(Conflict):
            server.call("create_bank_alias", bank, {"alias": alias})
    for operation in ("set_bank_alias_primary", "delete_bank_alias"):
        with pytest.raises(NotFound, match="Alias 'nope' not found"):
            server.call(operation, "a", {"primary": True}, alias="nope")


def test_a_denied_caller_learns_nothing_about_existence(server: Server) -> None:
    server.call("create_or_update_bank", "b", {})
    messages = set()
    for bank in ("b", "missing"):
        with pytest.raises(Forbidden) as caught:
            server.call("get_bank_profile", bank, who=STRANGER)
        messages.add(caught.value.message)
    assert len(messages) == 1


# settings


def test_config_has_every_key_resolved_and_the_overrides_alone(server: Server) -> None:
    answer = server.call(
        "update_bank_config", "new", {"updates": {"recall_max_tokens": 2000, "retain_mission": "x"}}
    )
    parsed = BankConfigResponse.from_dict(answer)
    assert parsed is not None
    assert parsed.overrides == {"recall_max_tokens": 2000, "retain_mission": "x"}
    assert parsed.config["recall_max_tokens"] == 2000 and parsed.config["retain_chunk_size"] == 3000
    assert answer == server.call("get_bank_config", "new")
    cleared = server.call("update_bank_config", "new", {"updates": {"retain_mission": None}})
    assert cleared["overrides"] == {"recall_max_tokens": 2000}
    assert server.call("reset_bank_config", "new")["overrides"] == {}


@pytest.mark.parametrize(
    ("updates", "field"),
    [
        ({"llm_api_key": "x"}, "llm_api_key"),
        ({"no_such_thing": None}, "no_such_thing"),
        ({"retain_chunk_size": "big"}, "retain_chunk_size"),
        ({"retain_chunk_size": True}, "retain_chunk_size"),
        ({"disposition_empathy": 6}, "disposition_empathy"),
        ({"enable_text_search": "yes"}, "enable_text_search"),
        ({"recall_budget_min": 500, "recall_budget_max": 100}, "recall_budget_min"),
        ({"retain_default_strategy": "nowhere"}, "strategy 'nowhere'"),
        ({"retain_strategies": {"s": {"retain_strategies": {}}}}, "retain_strategies"),
        ({"entity_labels": [{"key": "a"}, {"key": "a"}]}, "entity_labels"),
        ({"retain_mission": "a\0b"}, "retain_mission"),
        ({"reflect_mission": "x" * 60_000}, "reflect_mission"),
    ],
)
def test_a_wrong_setting_is_named_and_nothing_is_stored(
    server: Server, updates: dict[str, object], field: str
) -> None:
    server.call("create_or_update_bank", "b", {"retain_chunk_size": 700})
    with pytest.raises(BadRequest, match=field):
        server.call("update_bank_config", "b", {"updates": {"recall_max_tokens": 5, **updates}})
    assert server.call("get_bank_config", "b")["overrides"] == {"retain_chunk_size": 700}


def test_parallel_changes_of_settings_lose_none(server: Server) -> None:
    server.call("create_or_update_bank", "b", {})
    names = ["retain_chunk_size", "recall_max_tokens", "recall_budget_fixed_low", "recall_budget_fixed_mid"]
    threads = [
        threading.Thread(target=server.call, args=("update_bank_config", "b", {"updates": {name: 500}}))
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.call("get_bank_config", "b")["overrides"] == dict.fromkeys(names, 500)


def test_a_template_moves_settings_to_another_bank(server: Server) -> None:
    server.call(
        "update_bank_config", "a", {"updates": {"recall_max_tokens": 2000, "enable_reranking": False}}
    )
    template = server.call("export_bank_template", "a")
    parsed = BankTemplateManifest.from_dict(template)
    assert parsed is not None and parsed.bank is not None and parsed.bank.recall_max_tokens == 2000
    tried = server.call("import_bank_template", "b", template, dry_run=True)
    assert tried["dry_run"] is True and tried["config_applied"] is True
    with pytest.raises(NotFound):
        server.call("get_bank_config", "b")
    done = BankTemplateImportResponse.from_dict(server.call("import_bank_template", "b", template))
    assert done is not None and done.config_applied is True
    assert (
        server.call("get_bank_config", "b")["overrides"] == server.call("get_bank_config", "a")["overrides"]
    )


def test_templates_that_need_a_model_or_are_newer_are_refused(server: Server) -> None:
    models = [{"id": "m", "name": "m", "source_query": "q"}]
    with pytest.raises(NeedsLLM, match="mental_models"):
        server.call("import_bank_template", "b", {"version": "1", "mental_models": models})
    with pytest.raises(BadRequest, match="version"):
        server.call("import_bank_template", "b", {"version": "9"})
    with pytest.raises(InvalidInput):
        server.call("import_bank_template", "b", {"bank": {}})
    assert server.call("list_banks")["total"] == 0


def test_the_template_schema_knows_every_key(server: Server) -> None:
    schema = server.call("get_bank_template_schema")
    keys = server.call("export_bank_template", _made(server))["bank"].keys()
    assert schema["properties"]["bank"]["properties"].keys() == keys


def _made(server: Server) -> str:
    server.call("create_or_update_bank", "made", {})
    return "made"


def test_the_reader_of_a_part_sees_its_numbers_only(server: Server) -> None:
    server.retain("b", {"content": "Ada met Grace in Paris.", "tags": ["public"]}, "Linus lives in Portland.")
    [all_of_it] = server.call("list_banks")["banks"]
    [part] = server.call("list_banks", who=READER)["banks"]
    assert 0 < part["fact_count"] < all_of_it["fact_count"]
