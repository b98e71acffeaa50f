"""Counters, gauges and histograms as plain objects that any layer may count into.

`render` writes them in the Prometheus text format, version 0.0.4. One `Metrics` belongs to one
server; there is no process-wide registry.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 60.0)
"""Upper bounds of the buckets for durations, in seconds."""
MAX_SERIES = 2_000
"""Label sets of one metric; further ones are counted under `other`, so that memory stays bounded."""

Labels = tuple[str, ...]
Reader = Callable[[], float | Mapping[str, float]]


class Counter:
    """A number that only grows, one for each set of label values."""

    kind = "counter"

    def __init__(self, name: str, meaning: str, labels: tuple[str, ...] = ()) -> None:
        self.name, self.meaning, self.labels = name, meaning, labels
        self._lock = threading.Lock()
        self._values: dict[Labels, float] = {}

    def add(self, *values: str, by: float = 1.0) -> None:
        """Raise the series with these label values."""
        with self._lock:
            key = _bounded(values, self._values)
            self._values[key] = self._values.get(key, 0.0) + by

    def value(self, *values: str) -> float:
        """The present value, 0 when never raised."""
        return self._values.get(values, 0.0)

    def samples(self) -> Iterator[str]:
        """Its lines."""
        with self._lock:
            series = sorted(self._values.items())
        for values, number in series:
            yield _line(self.name, zip(self.labels, values, strict=False), number)


@dataclass(slots=True)
class _Buckets:
    counts: list[int]
    total: float = 0.0


class Histogram:
    """How durations in seconds are spread, one for each set of label values."""

    kind = "histogram"

    def __init__(
        self, name: str, meaning: str, labels: tuple[str, ...] = (), bounds: tuple[float, ...] = SECONDS
    ) -> None:
        self.name, self.meaning, self.labels, self.bounds = name, meaning, labels, bounds
        self._lock = threading.Lock()
        self._series: dict[Labels, _Buckets] = {}

    def observe(self, seconds: float, *values: str) -> None:
        """Count one duration in the series with these label values."""
        place = bisect_left(self.bounds, seconds)
        with self._lock:
            key = _bounded(values, self._series)
            series = self._series.setdefault(key, _Buckets([0] * (len(self.bounds) + 1)))
            series.counts[place] += 1
            series.total += seconds

    def count(self, *values: str) -> int:
        """How many durations were counted in this series."""
        with self._lock:
            series = self._series.get(values)
            return 0 if series is None else sum(series.counts)

    def samples(self) -> Iterator[str]:
        """Its lines: cumulative buckets, sum and count of each series."""
        with self._lock:
            series = [(key, list(one.counts), one.total) for key, one in sorted(self._series.items())]
        for values, counts, total in series:
            labels = list(zip(self.labels, values, strict=False))
            seen = 0
            for bound, count in zip([*map(_number, self.bounds), "+Inf"], counts, strict=True):
                seen += count
                yield _line(f"{self.name}_bucket", [*labels, ("le", bound)], seen)
            yield _line(f"{self.name}_sum", labels, total)
            yield _line(f"{self.name}_count", labels, seen)


class Gauge:
    """A number that is read when it is asked for; a mapping gives one sample for each key."""

    kind = "gauge"

    def __init__(self, name: str, meaning: str, read: Reader, label: str = "kind") -> None:
        self.name, self.meaning, self._read, self._label = name, meaning, read, label

    def samples(self) -> Iterator[str]:
        """Its lines."""
        value = self._read()
        if isinstance(value, Mapping):
            for key, number in sorted(value.items()):
                yield _line(self.name, [(self._label, key)], number)
        else:
            yield _line(self.name, [], value)


def _operations() -> Histogram:
    return Histogram("lorebank_operation_seconds", "Time to answer a request.", ("operation", "status"))


def _arms() -> Histogram:
    return Histogram("lorebank_recall_arm_seconds", "Time that one arm of a recall took.", ("arm",))


def _stages() -> Histogram:
    return Histogram("lorebank_stage_seconds", "Time of one stage of an operation.", ("operation", "stage"))


def _errors() -> Counter:
    return Counter("lorebank_errors_total", "Requests that ended in an error.", ("operation", "code"))


def _degraded() -> Counter:
    return Counter("lorebank_recall_degraded_total", "Recalls that answered without an arm.", ("arm",))


def _jobs() -> Counter:
    return Counter("lorebank_jobs_total", "Background jobs that ended.", ("type", "status"))


@dataclass(frozen=True, slots=True)
class Metrics:
    """All metrics of one server. Anything below `http` may count here; `gauge` adds a number to read."""

    operations: Histogram = field(default_factory=_operations)
    arms: Histogram = field(default_factory=_arms)
    stages: Histogram = field(default_factory=_stages)
    errors: Counter = field(default_factory=_errors)
    degraded: Counter = field(default_factory=_degraded)
    jobs: Counter = field(default_factory=_jobs)
    gauges: list[Gauge] = field(default_factory=list)

    def gauge(self, name: str, meaning: str, read: Reader, label: str = "kind") -> None:
        """Have `read` called at each scrape; it must be quick and must not raise."""
        self.gauges.append(Gauge(name, meaning, read, label))

    def render(self) -> str:
        """Everything in the Prometheus text format."""
        parts: list[Counter | Histogram | Gauge] = [
            self.operations,
            self.arms,
            self.stages,
            self.errors,
            self.degraded,
            self.jobs,
            *self.gauges,
        ]
        lines: list[str] = []
        for part in parts:
            lines += [
                f"# HELP {part.name} {part.meaning}",
                f"# TYPE {part.name} {part.kind}",
                *part.samples(),
            ]
        return "\n".join(lines) + "\n"


def _bounded(values: Labels, known: Mapping[Labels, object]) -> Labels:
    if values in known or len(known) < MAX_SERIES:
        return values
    return ("other",) * len(values)


def _line(name: str, labels: Iterable[tuple[str, str]], value: float) -> str:
    inside = ",".join(f'{label}="{_escape(text)}"' for label, text in labels)
    return f"{name}{{{inside}}} {_number(value)}" if inside else f"{name} {_number(value)}"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
