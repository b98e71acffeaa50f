"""Settings -> the model services of one server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lorebank.banks.embedders import Embedders
from lorebank.config import Settings
from lorebank.errors import InvalidInput
from lorebank.models.local import local_embedder, local_reranker
from lorebank.models.service import EmbedderSource, EmbedService, RerankService
from lorebank.models.workers import WorkerPool


@dataclass(frozen=True, slots=True)
class Models:
    """The models of one server and the threads that run them."""

    pool: WorkerPool
    embedders: Embedders
    reranker: RerankService

    def close(self) -> None:
        """End the threads, after any load that is under way."""
        for service in (self.embedders.target, *self.embedders.others):
            service.close()
        self.reranker.close()
        self.pool.close()


def build_models(settings: Settings, local: EmbedderSource | None = None) -> Models:
    """The services that `settings` ask for, none of them loaded yet.

    `local` stands in for the local embedder (the benchmark puts a cache before it). The embedder
    that is not the configured one stays at hand for banks whose vectors come from it.
    """
    pool = WorkerPool(settings.model_threads)
    weights = Path(settings.weights_dir) if settings.weights_dir else None
    here = EmbedService(local or local_embedder(weights, query_prefix=""), pool)
    there = _hosted(settings, pool)
    if settings.embedder == "none":
        embedders = Embedders(EmbedService(None, pool))
    elif settings.embedder == "local":
        embedders = Embedders(here, () if there is None else (there,))
    elif there is None:
        raise InvalidInput("the hosted embedder needs embed_base_url, embed_model and embed_dimension")
    else:
        embedders = Embedders(there, (here,))
    reranker = RerankService(local_reranker(weights) if settings.reranker == "local" else None, pool)
    return Models(pool, embedders, reranker)


def _hosted(settings: Settings, pool: WorkerPool) -> EmbedService | None:
    if not (settings.embed_base_url and settings.embed_model and settings.embed_dimension):
        return None
    from lorebank.models.providers.http_call import CallPolicy
    from lorebank.models.providers.openai_compatible import hosted_embedder

    source = hosted_embedder(
        base_url=settings.embed_base_url,
        api_key=settings.embed_api_key,
        model=settings.embed_model,
        dimension=settings.embed_dimension,
        policy=CallPolicy(deadline_s=settings.embed_timeout),
    )
    return EmbedService(source, pool)
