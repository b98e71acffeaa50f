"""access: who may do what. One file a subject; this one puts them together."""

from __future__ import annotations

import click

from lorebank.cli.base import Group
from lorebank.cli.commands.access.accounts import service_account
from lorebank.cli.commands.access.attach import attach, detach
from lorebank.cli.commands.access.bank_policy import bank_policy
from lorebank.cli.commands.access.channels import channel
from lorebank.cli.commands.access.explain import explain
from lorebank.cli.commands.access.give import give
from lorebank.cli.commands.access.groups import group, member
from lorebank.cli.commands.access.keys import key
from lorebank.cli.commands.access.policies import policy
from lorebank.cli.commands.access.rights import rights
from lorebank.cli.commands.access.users import user


@click.group(cls=Group)
def access() -> None:
    """Access: who may do what on which bank.

    'lorebank access give readonly --user ci --bank notes' is all that a second agent needs.
    """


for command in (
    give,
    explain,
    rights,
    user,
    channel,
    key,
    group,
    member,
    policy,
    attach,
    detach,
    service_account,
    bank_policy,
):
    access.add_command(command)
