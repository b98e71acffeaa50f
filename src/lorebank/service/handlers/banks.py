"""Operations on whole banks: list, create, change, delete, profile, aliases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lorebank.access.policy.naming import denies_bank
from lorebank.banks import banks
from lorebank.banks.banks import ListedBank
from lorebank.clock import to_iso
from lorebank.errors import Conflict, NotFound
from lorebank.ids import BankId, check_id
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire
from lorebank.storage.ports import Page
from lorebank.storage.rows import BankRow

_TRAITS = ("skepticism", "literalism", "empathy")
_OF_PROFILE = frozenset({"reflect_mission", *(f"disposition_{trait}" for trait in _TRAITS)})
"""The settings that a bank's profile shows."""
_NOT_SETTINGS = ("name", "mission", "background", "disposition")


def list_banks(call: Call) -> Wire:
    """BankListResponse."""
    page = Page(call.params["limit"], call.params["offset"])
    context = call.context
    found = banks.listing(context.banks, context.resolver, call.grant, call.params["q"], page)
    items = [_item(call, listed) for listed in found.banks]
    return {"banks": items, "total": found.total, "limit": page.limit, "offset": page.offset}


def _item(call: Call, listed: ListedBank) -> Wire:
    row, counts = listed.row, listed.counts
    # Without the right to read the profile: the name, and what every new bank has.
    profile = _profile(call, row if listed.profiled else replace(row, config={}))
    return {
        "bank_id": row.bank_id,
        "name": profile["name"],
        "disposition": profile["disposition"],
        "mission": profile["mission"],
        "created_at": to_iso(row.created_at),
        "updated_at": to_iso(row.updated_at),
        "fact_count": sum(counts.memories.values()) if counts else 0,
        "last_document_at": to_iso(counts.last_document_at) if counts else None,
        "last_write_at": to_iso(counts.last_memory_write_at) if counts else None,
        "display_alias": listed.primary_alias,
        "matched_aliases": list(listed.matched_aliases),
    }


def _profile(call: Call, row: BankRow) -> Wire:
    config = banks.settings_of(row, call.context.settings)
    return {
        "bank_id": row.bank_id,
        "name": row.name or row.bank_id,
        "disposition": config.disposition,
        "mission": config.reflect_mission,
        "background": config.reflect_mission or None,
    }


def create_or_update_bank(call: Call) -> Wire:
    """BankProfileResponse; makes the bank when it is missing. To change one that is there takes more than
    the right to make banks."""
    name, updates = _wanted(call.request)
    context = call.context
    _check_changes(call, "bank:update", name, updates)
    row = banks.create_or_update(context.banks, call.grant, context.settings, name, updates, context.clock())
    return _profile(call, row)


def update_bank(call: Call) -> Wire:
    """BankProfileResponse; the bank must exist."""
    name, updates = _wanted(call.request)
    context = call.context
    _check_changes(call, None, name, updates)
    row = banks.update(context.banks, call.grant, context.settings, name, updates, context.clock())
    return _profile(call, row)


def _check_changes(call: Call, action: str | None, name: str | None, updates: dict[str, Any]) -> None:
    """`Forbidden` when the bank is there, would be changed, and the caller may not do `action`; nor, where
    more than its profile would change, `bank:config:update`: by whichever route settings are changed."""
    try:
        row = banks.row_of(call.context.banks, call.grant)
    except NotFound:
        return
    changed = {key for key, value in updates.items() if row.config.get(key) != value}
    needed = [action] if action and (changed or name not in (None, row.name)) else []
    if changed - _OF_PROFILE:
        needed.append("bank:config:update")
    for one in needed:
        call.context.resolver.resolve(call.grant.principal, one, call.grant.bank)


def _wanted(request: Any) -> tuple[str | None, dict[str, Any]]:
    """The name and the settings of a CreateBankRequest. Newer names win over `mission`, `background`
    and `disposition`, which clients still send."""
    sent: dict[str, Any] = request.model_dump(exclude_none=True)
    updates: dict[str, Any] = {}
    for older in ("background", "mission"):
        if older in sent:
            updates["reflect_mission"] = sent[older]
    for trait, level in sent.get("disposition", {}).items():
        updates[f"disposition_{trait}"] = level
    updates |= {key: value for key, value in sent.items() if key not in _NOT_SETTINGS}
    return sent.get("name"), updates


def delete_bank(call: Call) -> Wire:
    """DeleteResponse."""
    deleted = banks.delete(call.context.banks, call.grant)
    if deleted.store_id is not None:
        call.context.indexes.drop(deleted.store_id)
    message = f"Bank '{call.grant.bank}' and everything in it was deleted"
    return {"success": True, "message": message, "deleted_count": deleted.removed}


def get_bank_profile(call: Call) -> Wire:
    """BankProfileResponse."""
    return _profile(call, call.handle.bank)


# aliases


def list_bank_aliases(call: Call) -> Wire:
    """BankAliasesResponse."""
    found = call.context.banks.aliases(call.grant)
    aliases = [{"alias": alias, "primary": primary} for alias, primary in found]
    return {"bank_id": call.handle.bank.bank_id, "aliases": aliases}


def create_bank_alias(call: Call) -> Wire:
    """BankAliasesResponse with the new alias. Who gives a bank a name must be allowed to make a bank of
    that name: a name claimed for one's own bank is lost to all others."""
    alias = check_id(call.request.alias, "alias", max_bytes=call.context.settings.limits.id_bytes)
    call.context.resolver.resolve(call.grant.principal, "bank:create", BankId(alias))
    _refuse_named_by_policy(call, alias)
    banks.add_alias(call.context.banks, call.grant, alias, call.request.primary)
    return list_bank_aliases(call)


def _refuse_named_by_policy(call: Call, alias: str) -> None:
    """What a policy denies under this name would hold for nothing: rights are decided on the bank's id."""
    data = call.context.access.store.data
    if alias in data.bank_policies or any(denies_bank(one.text, alias) for one in data.policies.values()):
        raise Conflict(
            f"a policy restricts a bank '{alias[:200]}', so the name cannot stand for another bank; "
            "choose another alias, or change the policy first"
        )


def set_bank_alias_primary(call: Call) -> Wire:
    """BankAliasesResponse after the change."""
    banks.set_primary(call.context.banks, call.grant, call.params["alias"], call.request.primary)
    return list_bank_aliases(call)


def delete_bank_alias(call: Call) -> Wire:
    """BankAliasesResponse without the alias."""
    banks.remove_alias(call.context.banks, call.grant, call.params["alias"])
    return list_bank_aliases(call)


OPERATIONS = (
    Operation("list_banks", "bank:list", Scope.LISTING, list_banks),
    Operation("create_or_update_bank", "bank:create", Scope.BANK_NAME, create_or_update_bank),
    Operation("update_bank", "bank:update", Scope.BANK_NAME, update_bank),
    Operation("delete_bank", "bank:delete", Scope.BANK_NAME, delete_bank),
    Operation("get_bank_profile", "bank:read", Scope.BANK, get_bank_profile),
    Operation("list_bank_aliases", "bank:aliases:read", Scope.BANK, list_bank_aliases),
    Operation("create_bank_alias", "bank:aliases:update", Scope.BANK, create_bank_alias),
    Operation("set_bank_alias_primary", "bank:aliases:update", Scope.BANK, set_bank_alias_primary),
    Operation("delete_bank_alias", "bank:aliases:update", Scope.BANK, delete_bank_alias),
)
