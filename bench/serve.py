"""`lorebank serve` with the document cache in front of the embedder; everything else is the product."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

# First, because it sets the threads of the matrix library before that is loaded.
from lorebank.bootstrap.serve import serve  # isort: skip

from cached_embedder import cached

from lorebank.config import load
from lorebank.models.local import local_embedder


def main() -> int:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--port", required=True)
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    settings = load({"data_dir": options.data_dir, "port": options.port, "log_level": "warning"})
    return serve(settings, embedder=cached(local_embedder(query_prefix=""), options.cache))


if __name__ == "__main__":
    sys.exit(main())
