"""The knowledge tools of agents: each is one module of `vaults.tools`, over the partition that the caller's
audience reaches. None takes a store, agent, path or scope (statement 1.1.12)."""

from __future__ import annotations

from lorebank.access.actions import KNOWLEDGE_RECALL, KNOWLEDGE_SAVE
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire

# Each handler loads its tool itself: a server that nobody asks for knowledge does not pay for it.

# reading


def knowledge_search(call: Call) -> Wire:
    """Hits, best first."""
    from lorebank.vaults.tools import search

    return search.run(call.vault, call.request.ask(), call.context.knowledge.embed)


def knowledge_get(call: Call) -> Wire:
    """Whole records with their relations and verified evidence."""
    from lorebank.vaults.tools import get

    return get.run(call.vault, call.request.ask())


def knowledge_recall(call: Call) -> Wire:
    """Numbered candidates, or what was opened or approved of earlier ones."""
    from lorebank.vaults.tools import recall

    knowledge = call.context.knowledge
    return recall.run(call.vault, call.request.ask(), knowledge.candidates, knowledge.embed)


def knowledge_ontology(call: Call) -> Wire:
    """The catalogue of types, or one definition."""
    from lorebank.vaults.tools import ontology

    return ontology.run(call.vault, call.request.ask())


def knowledge_context(call: Call) -> Wire:
    """Knowledge index and recent changes as text for a prompt."""
    from lorebank.vaults.tools import recent

    return recent.run(call.vault, call.request.ask())


def knowledge_history(call: Call) -> Wire:
    """Who wrote each revision of a record, one revision, or the difference of two."""
    from lorebank.vaults.tools import history

    return history.run(call.vault, call.request.ask())


# saving


def knowledge_restore(call: Call) -> Wire:
    """An earlier revision again, as the newest."""
    from lorebank.vaults.tools import history

    return history.restore(call.vault, call.request.ask(), call.context.clock)


def knowledge_remember(call: Call) -> Wire:
    """A claim with the excerpt that it rests on."""
    from lorebank.vaults.tools import remember

    return remember.run(call.vault, call.request.ask(), call.context.clock)


def knowledge_save_page(call: Call) -> Wire:
    """A page, new or changed."""
    from lorebank.vaults.tools import save_page

    return save_page.run(call.vault, call.request.ask(), call.context.clock)


def knowledge_save_claim(call: Call) -> Wire:
    """A claim, new or changed."""
    from lorebank.vaults.tools import save_claim

    return save_claim.run(call.vault, call.request.ask(), call.context.clock)


def knowledge_save_relationship(call: Call) -> Wire:
    """A relationship, new or changed."""
    from lorebank.vaults.tools import save_relationship

    return save_relationship.run(call.vault, call.request.ask(), call.context.clock)


def knowledge_attach_file(call: Call) -> Wire:
    """The receipt of a retained file."""
    from lorebank.vaults.tools import attach_file

    return attach_file.run(call.vault, call.request.ask(), call.request.file.file, call.context.clock)


def knowledge_relink(call: Call) -> Wire:
    """Counts and examples of one page of unlinked claims."""
    from lorebank.vaults.tools import relink

    return relink.run(call.vault, call.request.ask())


OPERATIONS = (
    Operation("knowledge_search", KNOWLEDGE_RECALL, Scope.AUDIENCE, knowledge_search),
    Operation("knowledge_get", KNOWLEDGE_RECALL, Scope.AUDIENCE, knowledge_get),
    Operation("knowledge_recall", KNOWLEDGE_RECALL, Scope.AUDIENCE, knowledge_recall),
    Operation("knowledge_ontology", KNOWLEDGE_RECALL, Scope.AUDIENCE, knowledge_ontology),
    Operation("knowledge_context", KNOWLEDGE_RECALL, Scope.AUDIENCE, knowledge_context),
    Operation("knowledge_history", KNOWLEDGE_RECALL, Scope.AUDIENCE, knowledge_history),
    Operation("knowledge_restore", KNOWLEDGE_SAVE, Scope.AUDIENCE, knowledge_restore),
    Operation("knowledge_remember", KNOWLEDGE_SAVE, Scope.AUDIENCE, knowledge_remember),
    Operation("knowledge_save_page", KNOWLEDGE_SAVE, Scope.AUDIENCE, knowledge_save_page),
    Operation("knowledge_save_claim", KNOWLEDGE_SAVE, Scope.AUDIENCE, knowledge_save_claim),
    Operation("knowledge_save_relationship", KNOWLEDGE_SAVE, Scope.AUDIENCE, knowledge_save_relationship),
    Operation("knowledge_attach_file", KNOWLEDGE_SAVE, Scope.AUDIENCE, knowledge_attach_file),
    Operation("knowledge_relink", KNOWLEDGE_SAVE, Scope.AUDIENCE, knowledge_relink),
)
