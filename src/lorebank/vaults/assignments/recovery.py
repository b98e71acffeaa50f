"""What became of a change of the store map that a kill interrupted: told by the file (statement 1.2.20).

The journal row is written before the file, and settled after it. So: the file as it was planned -> done; as
it was before -> cancelled; somebody has edited it since -> done if what the change wanted is in it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Literal

from lorebank.storage.knowledge_ports import AssignmentRow, RegistryPicture
from lorebank.vaults.assignments.config_file import LoadedConfig

Kind = Literal["share", "use_shared", "use_own"]


@dataclass(frozen=True, slots=True)
class Change:
    """What an assignment does, as the journal keeps it (`AssignmentRow.operation`, in JSON). `name` is the
    named store, None for use_own."""

    kind: Kind
    agent: str
    name: str | None = None

    def encoded(self) -> str:
        """The journal's form."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)


def change_of(row: AssignmentRow) -> Change:
    """The change that a row is about."""
    return Change(**json.loads(row.operation))


def outcome_of(row: AssignmentRow, config: LoadedConfig) -> Literal["done", "cancelled"] | None:
    """How the change ended; None while that cannot be told, because the file cannot be understood."""
    if config.sha256 == row.after:
        return "done"
    if config.sha256 == row.before:
        return "cancelled"
    if config.problem is not None:
        return None
    return "done" if _in_effect(change_of(row), config) else "cancelled"


def _in_effect(change: Change, config: LoadedConfig) -> bool:
    """Whether the map says what the change wanted.

    A share made its entry: a map that has the entry was written by it, even if the agent has been taken out
    since. Then the others of the entry must find the store that was shared with them.
    """
    stores = config.settings.stores
    if change.kind == "share":
        return change.name in stores
    now = [name for name, store in stores.items() if change.agent in store.agents]
    return now == ([] if change.name is None else [change.name])


def planned_bindings(picture: RegistryPicture, config: LoadedConfig) -> dict[str, str]:
    """The bindings that belong to the file as it is: those of an open change when the file is the new one
    already. So nobody finds a named store without its data in the moment between file and registry."""
    found = dict(picture.bindings)
    if picture.open is None or config.sha256 != picture.open.after:
        return found
    for binding, vault in picture.open.bindings.items():
        found.pop(binding, None)
        if vault is not None:
            found[binding] = vault
    return found
