"""One way to call a model provider over HTTP: a deadline, bounded retries, a size cap, no secrets told.

Public messages name the provider and the status, never the key, the address or what the provider said;
the private cause holds the latter two with the key masked.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import orjson

from lorebank.errors import InvalidInput, Unavailable

_RETRIED = frozenset({408, 429})
_TOLD_BYTES = 300


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How hard a call is tried.

    `deadline_s` bounds all attempts together, `attempts` includes the first, a pause is drawn between
    0 and `pause_s` doubled at each attempt (at most `longest_pause_s`), and an answer larger than
    `max_bytes` after decompression is refused.
    """

    deadline_s: float = 30.0
    attempts: int = 4
    pause_s: float = 0.25
    longest_pause_s: float = 8.0
    max_bytes: int = 64 << 20


class ProviderDetail(Exception):
    """The private cause of a failed call: what happened, with the key masked."""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    retry_after: str | None
    body: bytes


class JsonCaller:
    """Posts JSON to one provider; safe to use from several threads.

    `name` is how public messages call the provider. Raises `InvalidInput` for an address or a key
    that cannot be used.
    """

    def __init__(self, name: str, base_url: str, api_key: str, policy: CallPolicy) -> None:
        self._name = name
        self._base_url = _checked_url(base_url)
        self._api_key = _checked_key(api_key)
        self._policy = policy
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.Client(headers=headers, follow_redirects=False)

    def __repr__(self) -> str:
        return f"JsonCaller({self._name!r})"

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The parsed JSON answer of `base_url + path`.

        Tries again after network errors, 408, 429 and 5xx only. Raises `Unavailable` otherwise, and
        when the deadline or the number of attempts is used up.
        """
        deadline = time.monotonic() + self._policy.deadline_s
        content = orjson.dumps(body)
        for attempt in range(self._policy.attempts):
            last = attempt + 1 == self._policy.attempts
            answer = self._attempt(path, content, deadline, last)
            if answer is not None and not _worth_retrying(answer.status):
                return self._parsed(answer)
            if last:
                raise self._refused(answer)
            self._pause(attempt, answer, deadline)
        raise self._timed_out()

    def _attempt(self, path: str, content: bytes, deadline: float, last: bool) -> _Answer | None:
        """The answer; None for a network error that may be tried again."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise self._timed_out()
        try:
            return self._send(path, content, left, deadline)
        except httpx.TimeoutException as exc:
            if last or time.monotonic() >= deadline:
                raise self._timed_out(exc) from None
        except httpx.HTTPError as exc:
            if last:
                raise self._unavailable("cannot be reached", exc) from None
        return None

    def _send(self, path: str, content: bytes, left: float, deadline: float) -> _Answer:
        request = self._client.stream(
            "POST",
            self._base_url + path,
            content=content,
            headers={"Content-Type": "application/json"},
            timeout=left,
        )
        with request as response:
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > self._policy.max_bytes:
                    raise self._unavailable(f"sent more than {self._policy.max_bytes} bytes")
                if time.monotonic() > deadline:
                    raise self._timed_out()
            return _Answer(response.status_code, response.headers.get("retry-after"), bytes(body))

    def _parsed(self, answer: _Answer) -> Any:
        if not 200 <= answer.status < 300:
            raise self._refused(answer)
        try:
            return orjson.loads(answer.body)
        except orjson.JSONDecodeError as exc:
            raise self._unavailable("sent something that is not JSON", exc) from None

    def _pause(self, attempt: int, answer: _Answer | None, deadline: float) -> None:
        asked = retry_after_s(answer.retry_after) if answer is not None else None
        drawn = random.uniform(0, min(self._policy.pause_s * 2**attempt, self._policy.longest_pause_s))
        pause = drawn if asked is None else max(asked, drawn)
        if time.monotonic() + pause >= deadline:
            raise self._refused(answer)
        time.sleep(pause)

    def _refused(self, answer: _Answer | None) -> Unavailable:
        if answer is None:
            return self._unavailable("cannot be reached")
        hint = "; check the key in the settings" if answer.status in (401, 403) else ""
        told = answer.body[:_TOLD_BYTES].decode("utf-8", "replace")
        return self._unavailable(f"answered with status {answer.status}{hint}", ProviderDetail(told))

    def _timed_out(self, cause: Exception | None = None) -> Unavailable:
        return self._unavailable(f"did not answer within {self._policy.deadline_s:g} s", cause)

    def _unavailable(self, what: str, cause: Exception | None = None) -> Unavailable:
        detail = None if cause is None else ProviderDetail(self._masked(f"{type(cause).__name__}: {cause}"))
        return Unavailable(f"{self._name} {what}.", cause=detail)

    def _masked(self, text: str) -> str:
        return text.replace(self._api_key, "***") if self._api_key else text


def retry_after_s(value: str | None) -> float | None:
    """Seconds that a Retry-After header asks for (a number, or an HTTP date); None when unreadable."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    aware = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def _worth_retrying(status: int) -> bool:
    return status in _RETRIED or status >= 500


def _checked_url(text: str) -> str:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as exc:
        raise InvalidInput(
            "base_url is not a URL; give for example http://127.0.0.1:9000/v1", cause=exc
        ) from exc
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        raise InvalidInput(
            "base_url must start with http:// or https:// and carry no user name; put the key in api_key"
        )
    return text.rstrip("/")


def _checked_key(key: str) -> str:
    # The HTTP library quotes a header that it cannot send in its error: such a key must not get there.
    if not key.isascii() or not key.isprintable() or key != key.strip():
        raise InvalidInput("api_key must be printable ASCII without spaces around it")
    return key
