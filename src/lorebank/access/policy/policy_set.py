"""All policies that reach one principal by one way, made ready to be asked often.

Statements that always apply together are one block, merged beforehand; blocks are indexed by their
bank patterns. A question needs a few look-ups by the patterns that could match its bank, and its
answer is kept: banks that match the same patterns share it. A set is immutable to its users and may
be asked by several threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from lorebank.access.actions import on_agents
from lorebank.access.policy.blocks import Block, Entry, blocks_of, in_order
from lorebank.access.policy.match import agent_patterns_of, granting, patterns_of, prefix_sizes
from lorebank.access.policy.merge import SINGLE_VALUE, merged
from lorebank.access.policy.tag_filter import distinct
from lorebank.access.policy.values import UNSET, Attached, Effect, Parameters, StatementRef, Verdict

_MAX_KEPT = 4096
_Patterns = tuple[tuple[str, int], ...]
_Question = tuple[str, bool, _Patterns]
_Index = dict[str, list[int]]
"""pattern -> the blocks that have it."""


class PolicySet:
    """Evaluates the attached policies together: any deny that matches denies; otherwise the allows
    that match are merged (seed 001, Policy evaluation)."""

    __slots__ = ("_allowing", "_blocks", "_denying", "_kept", "_parameters", "_refs", "_repeats", "_sizes")

    def __init__(self, attached: Iterable[Attached]) -> None:
        entries = in_order(attached)
        self._refs = _references(entries)
        self._repeats = len(set(map(id, self._refs))) < len(entries)
        self._parameters = tuple(statement.parameters for _, _, statement in entries)
        self._blocks = blocks_of(entries)
        self._allowing = _indexed(self._blocks, "allow")
        self._denying = _indexed(self._blocks, "deny")
        self._sizes = prefix_sizes((*self._allowing, *self._denying))
        self._kept: dict[_Question, Verdict] = {}

    def evaluate(self, action: str, bank: str, *, implied: bool = True) -> Verdict:
        """What the set says of `action` on `bank` (`*`: the server itself; `agent:<id>` for actions that
        are decided on agents).

        Without `implied` only statements that name the action or its family count, not those whose
        action implies it. The determining statements are sorted by policy id and place.
        """
        allowing, denying = self._allowing, self._denying
        naming = agent_patterns_of(bank) if on_agents(action) else patterns_of(bank, self._sizes)
        patterns = tuple([one for one in naming if one[0] in allowing or one[0] in denying])
        question = (action, implied, patterns)
        verdict = self._kept.get(question)
        if verdict is None:
            verdict = self._decided(granting(action, implied), patterns)
            if len(self._kept) >= _MAX_KEPT:
                self._kept.clear()
            self._kept[question] = verdict
        return verdict

    def _decided(self, names: frozenset[str], patterns: _Patterns) -> Verdict:
        denies = self._matching(self._denying, names, patterns)
        if denies:
            return Verdict(False, denied=True, determining=self._refs_of(self._places(denies)))
        allows = self._matching(self._allowing, names, patterns)
        if not allows:
            return Verdict(False)
        places = self._places(allows)
        return Verdict(True, determining=self._refs_of(places), parameters=self._merged(allows, places))

    def _matching(self, index: _Index, names: frozenset[str], patterns: _Patterns) -> dict[int, int]:
        """block -> level of its closest pattern."""
        levels: dict[int, int] = {}
        for pattern, level in patterns:
            # The closest pattern comes last and stays.
            levels.update(dict.fromkeys(index.get(pattern, ()), level))
        blocks = self._blocks
        return {at: level for at, level in levels.items() if not blocks[at].actions.isdisjoint(names)}

    def _merged(self, allows: dict[int, int], places: Sequence[int]) -> Parameters:
        blocks, size = self._blocks, len(self._refs)
        setting = [at for at in sorted(allows) if blocks[at].parameters is not UNSET]
        if len(setting) < 2:
            return blocks[setting[0]].parameters if setting else UNSET

        def ranks(name: str) -> Sequence[int]:
            field = SINGLE_VALUE.index(name)
            return [blocks[at].winners[field] + allows[at] * size for at in setting]

        found = merged([blocks[at].parameters for at in setting], ranks)
        if found.recall_tag_groups is None or len(places) == len(allows):
            return found
        # In the order of the statements, which is not that of the blocks.
        said = (self._parameters[at].recall_tag_groups or () for at in places)
        return replace(found, recall_tag_groups=distinct(group for groups in said for group in groups))

    def _places(self, matching: Iterable[int]) -> Sequence[int]:
        """The statements of the blocks, ascending."""
        found = [self._blocks[at].places for at in matching]
        return found[0] if len(found) == 1 else sorted(chain.from_iterable(found))

    def _refs_of(self, places: Sequence[int]) -> tuple[StatementRef, ...]:
        """Each statement once, though its policy may have come by several ways."""
        refs = self._refs
        found = [refs[at] for at in places]
        return tuple({id(ref): ref for ref in found}.values() if self._repeats else found)


def _references(entries: Iterable[Entry]) -> tuple[StatementRef, ...]:
    """The references of the statements; the same statement has the same object wherever it appears."""
    known: dict[tuple[str, int], StatementRef] = {}
    return tuple(
        known.setdefault((one.policy_id, index), StatementRef(one.policy_id, index))
        for one, index, _ in entries
    )


def _indexed(blocks: Sequence[Block], effect: Effect) -> _Index:
    index: _Index = {}
    for at, block in enumerate(blocks):
        if block.effect == effect:
            for pattern in block.banks:
                index.setdefault(pattern, []).append(at)
    return index
