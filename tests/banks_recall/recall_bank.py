"""A server's parts around one bank, with a scripted embedder, for the tests of recall and vectors."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lorebank import clock, tokens
from lorebank.access.principal import Principal
from lorebank.access.resolve import Decision, Resolver
from lorebank.banks import config as bank_config
from lorebank.banks.embedders import Embedders
from lorebank.banks.indexes import Indexes
from lorebank.banks.recall.ask import Answer, Ask
from lorebank.banks.recall.recall import Engine, recall
from lorebank.banks.vectors import VectorBuilder
from lorebank.errors import Unavailable
from lorebank.ids import BankId, new_uuid
from lorebank.metrics import Metrics
from lorebank.models.ports import Matrix, Vector
from lorebank.models.service import EmbedderSource, EmbedService, RerankerSource, RerankService
from lorebank.models.workers import WorkerPool
from lorebank.search import asks, speaker_of, terms
from lorebank.storage.ports import BankHandle
from lorebank.storage.rows import Chunk, Document, NewMemory
from lorebank.storage.sqlite.directory import DataDirectory
from lorebank.tags import TagFilter

WIDTH = 32
ROOT = Principal("user", "root")


class WordEmbedder:
    """Vectors from words, so that texts that share words are alike; `seen` tells what it was given."""

    def __init__(self, model_id: str, width: int = WIDTH) -> None:
        self.model_id, self.dimension, self.max_tokens = model_id, width, 512
        self.seen: list[str] = []
        self.broken = False
        self.gate = threading.Event()
        self.gate.set()

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """A unit row a text."""
        self.gate.wait(20)
        if self.broken:
            raise Unavailable("the scripted embedder is down")
        self.seen.extend(texts)
        return np.stack([self._row(text) for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """The same for questions."""
        if self.broken:
            raise Unavailable("the scripted embedder is down")
        return np.stack([self._row(text) for text in texts])

    def _row(self, text: str) -> Vector:
        row = np.full(self.dimension, 0.01, np.float32)
        for word in terms(text):
            row[hashlib.sha256(f"{self.model_id} {word}".encode()).digest()[0] % self.dimension] += 1
        return row / np.linalg.norm(row)


class LengthReranker:
    """Likes long texts."""

    model_id = "length@1"
    broken = False

    def score(self, query: str, texts: Sequence[str]) -> Vector:
        """The length of each text as its logit."""
        if self.broken:
            raise Unavailable("the scripted reranker is down")
        return np.asarray([len(text) / 10 for text in texts], np.float32)


class Filtered:
    """Rules that let everybody in, behind one tag filter."""

    def __init__(self) -> None:
        self.filter: TagFilter | None = None

    def decide(self, principal: Principal, action: str, bank: BankId | None) -> Decision:
        """Allowed, with the filter."""
        return Decision(True, self.filter, {})


class Bench:
    """One data directory with one bank and everything that recall works with."""

    def __init__(self, path: Path, *, second_model: bool = False) -> None:
        self.directory = DataDirectory.open(path)
        self.rules = Filtered()
        self.resolver = Resolver(self.rules, self.directory.epoch, self.directory.audit)
        self.banks = self.directory.banks(self.resolver)
        self.pool = WorkerPool(2)
        self.first, self.second = WordEmbedder("first@1"), WordEmbedder("second@1", 16)
        services = [self._service(self.first), self._service(self.second)]
        self.embedders = Embedders(services[0], services[1:])
        if second_model:
            self.embedders = Embedders(services[1], services[:1])
        self.reranker = LengthReranker()
        self.indexes = Indexes(self.embedders, 8)
        self.builder = VectorBuilder(self.banks, self.resolver, self.embedders, retry_s=0.05)
        self.rerank = RerankService(RerankerSource("length@1", lambda: self.reranker), self.pool)
        self.metrics = Metrics()
        self.handle: BankHandle = self.open("home")

    def _service(self, embedder: WordEmbedder) -> EmbedService:
        service = EmbedService(
            EmbedderSource(embedder.model_id, embedder.dimension, lambda: embedder), self.pool
        )
        service.start()
        return service

    def open(self, bank: str) -> BankHandle:
        """The bank as the rules show it now, made when missing."""
        grant = self.resolver.resolve(ROOT, "bank:recall", BankId(bank))
        return self.banks.create(grant, None, clock.now())

    def close(self) -> None:
        """End everything."""
        self.builder.close()
        self.pool.close()
        self.directory.close()

    def add(self, *texts: str, handle: BankHandle | None = None, **columns: Any) -> list[int]:
        """Retain texts as memories of one document each; the builder is told."""
        bank = handle or self.handle
        with bank.write() as writer:
            keys = [self._added(writer, text, columns) for text in texts]
        self.builder.notify(bank)
        return keys

    def _added(self, writer: Any, text: str, columns: Mapping[str, Any]) -> int:
        document, now, tags = new_uuid(), clock.now(), columns.get("tags", ())
        writer.put_document(Document(document, text, len(text), "0" * 64, {}, {}, tags, None, now, now))
        cost = tokens.count(text)
        writer.put_chunks([Chunk(f"home:{document}:0", document, 0, text, "0" * 64, cost, now)])
        made = NewMemory(
            id=new_uuid(),
            text=text,
            context="",
            fact_type=columns.get("fact_type", "world"),
            terms=" ".join(terms(text)),
            tokens=cost,
            mentioned_at=now,
            document_id=document,
            chunk_id=f"home:{document}:0",
            speaker=speaker_of(text),
            asks=asks(text),
            **{k: v for k, v in columns.items() if k != "fact_type"},
        )
        return int(writer.add_memories([made], now)[0])

    def vectors_ready(self) -> None:
        """Start the builder and wait until nothing is left to embed."""
        if not self.builder.running:
            self.builder.start()
        assert self.builder.drain(30)

    def ask(
        self, query: str, *, handle: BankHandle | None = None, settle_s: float = 0.0, **more: Any
    ) -> Answer:
        """Recall from the bank with its default configuration, or the one in `config`."""
        engine = Engine(
            indexes=self.indexes,
            embedders=self.embedders,
            reranker=self.rerank,
            metrics=self.metrics,
            settle=self.builder.settle,
            rerank_deadline_s=10.0,
            settle_s=settle_s,
            query_tokens=500,
        )
        config = bank_config.resolve({}, more.pop("config", {}))
        return recall(engine, handle or self.handle, config, Ask(query=query, now=clock.now(), **more))


def texts(answer: Answer) -> list[str]:
    """The texts of an answer, in order."""
    return [found.memory.text for found in answer.found]
