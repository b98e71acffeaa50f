"""What a crashed server must still hold: every acknowledged change, and of the last one all or nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from live_server import Client, Gone

_TOKEN = re.compile(r"tok\d{7}")
_SAMPLE = 6


def tokens_in(text: str | None) -> list[str]:
    """The words that stand for facts, as often as they occur."""
    return _TOKEN.findall(text or "")


def sentence(token: str) -> str:
    """A fact that no other is like, for its token."""
    return f"Warden {token[3:6]} keeps relic {token} in the cellar of the old mill."


@dataclass(frozen=True)
class Bank:
    """The tokens of each document, and those that memories hold."""

    documents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    memories: frozenset[str] = frozenset()

    def put(self, document: str, tokens: Iterable[str]) -> Bank:
        """The bank after the document was retained with these tokens instead of its own."""
        new = tuple(tokens)
        left = self.memories - set(self.documents.get(document, ()))
        return Bank({**self.documents, document: new}, left | set(new))

    def append(self, document: str, tokens: Iterable[str]) -> Bank:
        """The bank after the tokens were added to the document."""
        new = tuple(tokens)
        held = self.documents.get(document, ())
        return Bank({**self.documents, document: held + new}, self.memories | set(new))

    def drop(self, document: str) -> Bank:
        """The bank after the document was deleted. Memories that were edited rest on it too."""
        left = {name: tokens for name, tokens in self.documents.items() if name != document}
        return Bank(left, self.memories - set(self.documents[document]))

    def hold(self, memories: Iterable[str]) -> Bank:
        """The bank with exactly these memories."""
        return replace(self, memories=frozenset(memories))


@dataclass
class Ledger:
    """Per bank what may be there: one state, or several after a request without an answer. None: no bank."""

    banks: dict[str, tuple[Bank | None, ...]] = field(default_factory=dict)
    touched: dict[str, set[str]] = field(default_factory=dict)
    gone: dict[str, set[str]] = field(default_factory=dict)
    accepted: list[tuple[str, str]] = field(default_factory=list)

    def state(self, bank: str) -> Bank | None:
        """The one state of a bank whose last request was answered."""
        (state,) = self.banks.get(bank, (None,))
        return state

    def change(self, bank: str, after: Bank | None, send: Callable[[], Any]) -> Any:
        """Do a change; without an answer the old and the new state are right (and `Gone` goes on)."""
        before = self.state(bank)
        self._note(bank, before, after)
        try:
            answer = send()
        except Gone:
            # A bank is made in a step of its own before something comes into it.
            empty = (Bank(),) if before is None else ()
            self.banks[bank] = (before, *empty, after)
            raise
        self.banks[bank] = (after,)
        return answer

    def _note(self, bank: str, before: Bank | None, after: Bank | None) -> None:
        old, new = before or Bank(), after or Bank()
        changed = {
            d for d in {*old.documents, *new.documents} if old.documents.get(d) != new.documents.get(d)
        }
        self.touched.setdefault(bank, set()).update(changed)
        self.gone.setdefault(bank, set()).update(old.memories - new.memories)

    # after a restart

    def verify(self, client: Client, *, everything: bool = False) -> None:
        """Compare the server with the ledger, and take over which of several states it is."""
        there = {row["bank_id"] for row in client.pages("/v1/default/banks", "banks")}
        for bank, states in list(self.banks.items()):
            found = self._read(client, bank) if bank in there else None
            assert found in states, _difference(bank, found, states)
            self.banks[bank] = (found,)
            if found is None:
                del self.banks[bank]
            else:
                self._verify_texts(client, bank, found, everything)
                self._verify_recall(client, bank, found, everything)
        assert there - {"transfers"} == set(self.banks), "a deleted bank came back, or one is missing"
        for bank, operation in self.accepted:
            if bank in there:
                assert client.operation(bank, operation)["status"] == "completed", (bank, operation)
        self.touched.clear()
        self.gone.clear()
        self.accepted.clear()

    def _read(self, client: Client, bank: str) -> Bank:
        held = Counter(token for row in client.memories(bank) for token in tokens_in(row["text"]))
        doubles = [token for token, times in held.items() if times > 1]
        assert not doubles, f"{bank}: stored twice: {doubles}"
        documents = {row["id"]: self._tokens_of(client, bank, row["id"]) for row in client.documents(bank)}
        return Bank(documents, frozenset(held))

    def _tokens_of(self, client: Client, bank: str, name: str) -> tuple[str, ...]:
        """The tokens of a document: read where more than one state is right, else as the ledger has them."""
        states = [state for state in self.banks[bank] if state is not None and name in state.documents]
        if len({state.documents[name] for state in states}) == 1:
            return tuple(states[0].documents[name])
        return tuple(tokens_in(client.bank(bank, f"/documents/{name}")["original_text"]))

    def _verify_texts(self, client: Client, bank: str, state: Bank, everything: bool) -> None:
        touched = sorted(self.touched.get(bank, set()) & set(state.documents))
        for name in state.documents if everything else touched[-_SAMPLE:]:
            text = client.bank(bank, f"/documents/{name}")["original_text"]
            assert tokens_in(text) == list(state.documents[name]), (bank, name, text)

    def _verify_recall(self, client: Client, bank: str, state: Bank, everything: bool) -> None:
        touched = {t for name in self.touched.get(bank, ()) for t in state.documents.get(name, ())}
        asked = sorted(state.memories, key=lambda token: (token in touched, token))
        for token in asked[-4 * _SAMPLE :] if everything else asked[-_SAMPLE if touched else -1 :]:
            assert any(token in r["text"] for r in client.recall(bank, token)), (
                f"{bank}: {token} is not found"
            )
        for token in sorted(self.gone.get(bank, set()) - state.memories)[:_SAMPLE]:
            assert not any(token in r["text"] for r in client.recall(bank, token)), f"{bank}: {token} is back"


def _difference(bank: str, found: Bank | None, states: tuple[Bank | None, ...]) -> str:
    """What is missing and what is too much, against each state that would be right."""
    told = [f"bank {bank}:"]
    for state in states:
        if found is None or state is None:
            told.append(f"there: {found is not None}, expected: {state is not None}")
            continue
        told.append(
            f"missing memories {sorted(state.memories - found.memories)[:20]}, "
            f"unexpected {sorted(found.memories - state.memories)[:20]}, "
            f"documents missing {sorted(set(state.documents) - set(found.documents))[:20]}, "
            f"unexpected {sorted(set(found.documents) - set(state.documents))[:20]}, differing "
            f"{[d for d, held in found.documents.items() if state.documents.get(d, held) != held]}"
        )
    return "\n".join(told)
