"""What a search is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from lorebank.search.columns import Doubles, Floats, Longs
from lorebank.search.passage import Kind
from lorebank.search.settings import ARMS, PER_ARM, Arm
from lorebank.tags import TagFilter


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One question to one store.

    `vector` is the unit embedding of `text`, None when there is none (the search is then marked degraded).
    `kinds` None means all. `tag_filter` has its fuzzy leaves expanded. `now` anchors relative dates and
    recency, epoch seconds; `window` is an explicit period (start, end) that is used instead of one read
    from the text. `per_arm` is how many candidates each arm may bring. `min_semantic` (cosine) and
    `min_keyword` (BM25) keep weaker matches out of their arms, `min_final` (0..1) out of the result. At
    most `limit` hits come back (None = twice `per_arm`).
    """

    text: str
    now: float
    vector: Floats | None = None
    kinds: frozenset[Kind] | None = None
    tag_filter: TagFilter | None = None
    window: tuple[float, float] | None = None
    per_arm: int = PER_ARM["mid"]
    arms: frozenset[Arm] = frozenset(ARMS)
    min_semantic: float | None = None
    min_keyword: float | None = None
    min_final: float | None = None
    prefer_observations: bool = False
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class ArmHit:
    """Where an arm ranked a passage (from 1), and its raw score there."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One found passage.

    `score` is final, 0..1. `semantic` is the cosine and `keyword` the BM25 score, None where the arm has
    none. `parts` are the summands of the score before the multipliers, by name, and `multipliers` the
    factors: score = clip(sum(parts) * product(multipliers), 0, 1).
    """

    key: int
    score: float
    semantic: float | None
    keyword: float | None
    arms: dict[str, ArmHit]
    parts: dict[str, float]
    multipliers: dict[str, float]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages in order of `scores`, best first, and how the search went.

    `keys`, `scores`, `tokens` and `previous` are parallel; `previous` is the key of the turn before each in
    its conversation, -1 where there is none that the query may see. `arm_keys` says what each arm found,
    best first. `timings` are milliseconds by stage. `degraded` names arms that could not work, with the
    reason in `reasons`.
    """

    keys: Longs
    scores: Doubles
    tokens: Longs
    previous: Longs
    semantic: Floats
    keyword: Floats
    parts: dict[str, Floats]
    multipliers: dict[str, Floats]
    arm_keys: dict[str, Longs]
    arm_scores: dict[str, Floats]
    timings: dict[str, float]
    visible: int
    candidates: int
    degraded: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    period: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def hits(self, count: int | None = None) -> Iterator[Hit]:
        """The first `count` hits (all by default) with everything that made up their scores."""
        return iter(self.at(range(len(self) if count is None else min(count, len(self)))))

    def at(self, places: Iterable[int]) -> list[Hit]:
        """The hits at these places, in the order given."""
        ranks = {
            arm: {key: place for place, key in enumerate(keys.tolist())}
            for arm, keys in self.arm_keys.items()
        }
        return [self._hit(place, ranks) for place in places]

    def _hit(self, place: int, ranks: dict[str, dict[int, int]]) -> Hit:
        key = int(self.keys[place])
        arms = {
            arm: ArmHit(places[key] + 1, float(self.arm_scores[arm][places[key]]))
            for arm, places in ranks.items()
            if key in places
        }
        return Hit(
            key=key,
            score=float(self.scores[place]),
            semantic=_known(self.semantic[place]),
            keyword=_known(self.keyword[place]),
            arms=arms,
            parts={name: float(values[place]) for name, values in self.parts.items() if values[place]},
            multipliers={name: float(values[place]) for name, values in self.multipliers.items()},
        )


def _known(value: np.float32) -> float | None:
    return None if np.isnan(value) else float(value)
