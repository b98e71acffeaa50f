"""Drafts made into facts: dates, entities, labels and causal references."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from lorebank.banks.extract.drafts import Draft
from lorebank.banks.extract.entities import find_entities
from lorebank.banks.extract.known import KnownEntities, fold
from lorebank.banks.extract.labels import Labeller
from lorebank.banks.extract.occurred import dates_in, main_date, note
from lorebank.banks.extract.turns import AGENT_ROLES
from lorebank.banks.extract.values import (
    EntityInput,
    EntityMention,
    ExtractSettings,
    Fact,
    FactType,
    ItemInput,
    LabelGroup,
)

# A fact that begins so names the one before it as its cause. Deliberately few: a wrong link misleads.
_CONSEQUENCE = re.compile(
    r"(?:[^:\n]{1,40}: )?(?:because of (?:this|that)|as a (?:result|consequence)|therefore|consequently|"
    r"that['’]s why|that is why|for (?:this|that) reason|which is why|deshalb|deswegen|daher|"
    r"bu yüzden|bu nedenle|그래서|따라서|لذلك)(?!\w)|(?:[^:\n]{1,40}: )?(?:因此|所以|そのため|だから|ดังนั้น)",
    re.IGNORECASE,
)


@lru_cache(maxsize=64)
def labeller_for(groups: tuple[LabelGroup, ...]) -> Labeller:
    """The prepared form of a bank's label groups."""
    return Labeller(groups)


class FactMaker:
    """Makes the facts of one item; holds what they share."""

    __slots__ = ("_given", "_known", "_labeller", "_people", "_settings", "_timestamp")

    def __init__(
        self, item: ItemInput, settings: ExtractSettings, known: KnownEntities, people: Iterable[str]
    ) -> None:
        self._timestamp = item.timestamp
        self._given = [(fold(e.text), _mention(e)) for e in item.entities if e.text.strip()]
        self._settings = settings
        self._known = known
        self._people = tuple(people)
        self._labeller = labeller_for(settings.entity_labels)

    def plain(self, text: str, position: int, chunk_index: int) -> Fact:
        """A fact that keeps its text, with labels and the caller's entities but nothing found by rules."""
        labelling = self._labeller.label(text)
        return Fact(
            text,
            position,
            chunk_index,
            entities=self._with_given((), text),
            labels=labelling.labels,
            label_tags=labelling.tags,
            labels_undecided=labelling.undecided,
            labels_pending=labelling.pending,
        )

    def full(self, draft: Draft, position: int, chunk_index: int, *, noted: bool = True) -> Fact:
        """A fact with all that rules find; `noted` appends the meaning of relative dates to its text."""
        spans = dates_in(draft.text, draft.at or self._timestamp)
        date = main_date(spans)
        labelling = self._labeller.label(draft.text)
        return Fact(
            text=draft.text + note(spans) if noted and spans else draft.text,
            position=position,
            chunk_index=chunk_index,
            fact_type=self._type_of(draft),
            speaker=draft.speaker or None,
            mentioned_at=draft.at,
            occurred_start=date.start if date else None,
            occurred_end=date.end if date else None,
            precision=date.precision if date else None,
            entities=self._entities(draft),
            labels=labelling.labels,
            label_tags=labelling.tags,
            labels_undecided=labelling.undecided,
            labels_pending=labelling.pending,
            caused_by=self._causes(draft, position),
        )

    def _type_of(self, draft: Draft) -> FactType:
        """What the agent says of its own doing is its experience; all else is the world."""
        agent = self._settings.agent_name
        acts = draft.role in AGENT_ROLES or (agent is not None and fold(draft.speaker) == fold(agent))
        return "experience" if acts and draft.first_person else "world"

    def _entities(self, draft: Draft) -> tuple[EntityMention, ...]:
        if not self._settings.entities_allow_free_form:
            return self._with_given((), draft.text)
        return self._with_given(find_entities(draft.text, self._known, self._people), draft.text)

    def _with_given(self, found: tuple[EntityMention, ...], text: str) -> tuple[EntityMention, ...]:
        """The caller's entities that the text names, or all when it names none, before those found."""
        if not self._given:
            return found
        folded = fold(text)
        named = [mention for key, mention in self._given if key in folded] or [m for _, m in self._given]
        taken = {fold(m.name) for m in named}
        return (*named, *(m for m in found if fold(m.name) not in taken))

    def _causes(self, draft: Draft, position: int) -> tuple[int, ...]:
        if position == 0 or not self._settings.causal_links or draft.text.endswith(("?", "？")):
            return ()
        return (position - 1,) if _CONSEQUENCE.match(draft.text) else ()


def _mention(entity: EntityInput) -> EntityMention:
    return EntityMention(" ".join(entity.text.split()), entity.type or "CONCEPT")
