"""vault: knowledge stores - who has which, what is in them, and their upkeep. One file a subject."""

from __future__ import annotations

import click

from lorebank.cli.base import Group
from lorebank.cli.commands.vault.accept import accept
from lorebank.cli.commands.vault.browse import browse, diagnostics
from lorebank.cli.commands.vault.conversations import conversations, grant, grants, revoke
from lorebank.cli.commands.vault.maintenance import maintenance, reviews
from lorebank.cli.commands.vault.skill import skill
from lorebank.cli.commands.vault.stores import share, stores, use_own, use_shared
from lorebank.cli.commands.vault.tools import token, tool
from lorebank.cli.commands.vault.upkeep import check, import_store, resolve


@click.group(cls=Group)
def vault() -> None:
    """Knowledge stores: records with evidence, in Markdown and git.

    'lorebank vault stores' shows who has which; 'lorebank vault tool knowledge_search
    '{"query": "tea"}' --owner' asks as an agent does.
    """


for command in (
    stores,
    share,
    use_shared,
    use_own,
    conversations,
    grants,
    grant,
    revoke,
    browse,
    diagnostics,
    maintenance,
    reviews,
    tool,
    token,
    check,
    resolve,
    accept,
    import_store,
    skill,
):
    vault.add_command(command)
