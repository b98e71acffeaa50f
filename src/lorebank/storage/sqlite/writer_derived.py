"""Writing what is derived: vectors, links and small values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lorebank.storage.rows import Derived, Link
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.writer_base import WRITE, WriterBase


class DerivedWrites(WriterBase):
    """The derived-data methods of a writer; the port's docstrings are the contract."""

    def set_meta(self, name: str, value: Any) -> None:
        if value is None:
            self._rows(WRITE.delete_meta, name=name)
        else:
            self._rows(WRITE.set_meta, name=name, value=values.to_json(value))

    def put_derived(self, rows: Sequence[Derived]) -> int:
        seq = self._touch()
        return self._many(
            WRITE.put_derived,
            ((r.terms, r.tokens, r.speaker, int(r.asks), seq, r.key, r.text) for r in rows),
        )

    def put_vectors(self, model_id: str, rows: Sequence[tuple[int, int, bytes]]) -> int:
        if not rows:
            return 0
        seq = self._touch()
        self._rows(WRITE.insert_model, id=model_id)
        model = self._number(WRITE.model_key, id=model_id)
        return self._many(WRITE.put_vector, ((model, seq, key, read_at, data) for key, read_at, data in rows))

    def drop_vectors(self, model_id: str | None) -> int:
        self._touch()
        self._rows(WRITE.raise_vector_epoch)
        if model_id is None:
            dropped = self._rows(WRITE.drop_all_vectors).rowcount
            self._rows("DELETE FROM vector_models")
        else:
            dropped = self._rows(WRITE.drop_vectors, id=model_id).rowcount
            self._rows("DELETE FROM vector_models WHERE id = :id", id=model_id)
        return dropped

    def put_links(self, links: Sequence[Link]) -> None:
        if links:
            seq = self._touch()
            self._many(WRITE.put_link, ((k.source, k.target, k.type, k.weight, seq) for k in links))

    def drop_links(self, type: str) -> int:
        self._touch()
        return self._rows(WRITE.drop_links, type=type).rowcount
