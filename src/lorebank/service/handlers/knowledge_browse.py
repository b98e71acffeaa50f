"""Operators look into an agent's private partition: read-only, and never into a conversation's (seed 000)."""

from __future__ import annotations

from lorebank.access.actions import KNOWLEDGE_READ
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire


def browse_knowledge_records(call: Call) -> Wire:
    """A page of the partition's records, or what a question finds in it."""
    from lorebank.vaults.find.browse import listed
    from lorebank.vaults.tools import reading, search

    asked = call.params["browse"]
    if asked.query:
        return search.run(call.open_vault(), asked.search(), call.context.knowledge.embed)
    return reading.read(call.open_vault(), lambda view: listed(view, asked.kind, asked.limit, asked.cursor))


def browse_knowledge_record(call: Call) -> Wire:
    """One whole record."""
    from lorebank.vaults.tools import get

    return get.run(call.open_vault(), get.GetAsk((call.params["record_id"],)))


def browse_knowledge_history(call: Call) -> Wire:
    """Who wrote each of a record's revisions."""
    from lorebank.vaults.tools import history

    return history.run(call.open_vault(), history.HistoryAsk(call.params["record_id"]))


def get_knowledge_diagnostics(call: Call) -> Wire:
    """What is wrong with files of the partition, at most 1,000 findings, and whether there are more."""
    from lorebank.vaults.find.browse import said
    from lorebank.vaults.tools import reading

    return reading.read(call.open_vault(), said)


OPERATIONS = (
    Operation("browse_knowledge_records", KNOWLEDGE_READ, Scope.AGENT, browse_knowledge_records),
    Operation("browse_knowledge_record", KNOWLEDGE_READ, Scope.AGENT, browse_knowledge_record),
    Operation("browse_knowledge_history", KNOWLEDGE_READ, Scope.AGENT, browse_knowledge_history),
    Operation("get_knowledge_diagnostics", KNOWLEDGE_READ, Scope.AGENT, get_knowledge_diagnostics),
)
