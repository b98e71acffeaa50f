"""A process that is killed while it makes vectors: `<root>`. One batch is stored by then."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

_TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(_TESTS / name) for name in ("", "vault_store", "vault_semantic")]

from semantic_world import SemanticWorld  # noqa: E402
from store_world import page, put  # noqa: E402

from lorebank.models.local import local_embedder  # noqa: E402
from lorebank.models.ports import Embedder, Matrix  # noqa: E402
from lorebank.models.service import EmbedService  # noqa: E402
from lorebank.models.workers import WorkerPool  # noqa: E402

RECORDS = 66
CALLS = 9


class Deadly:
    """The local model, up to its ninth call for documents."""

    def __init__(self, inner: Embedder) -> None:
        self.model_id, self.dimension, self._inner = inner.model_id, inner.dimension, inner
        self._left = CALLS

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return self._inner.embed_queries(texts)

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)
        return self._inner.embed_documents(texts)


def main(root: Path) -> None:
    source = local_embedder(query_prefix="")
    deadly = replace(source, load=lambda: Deadly(source.load()))
    world = SemanticWorld(root, EmbedService(deadly, WorkerPool(1)))
    world.open().check()
    for number in range(RECORDS):
        put(world.private(), f"people/p{number}.md", page(number, f"Person {number}"))
    world.found("anybody")
    world.settle()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
