"""Evidence descriptors as a scan of a partition finds them."""

from __future__ import annotations

import re
from typing import Final

from lorebank.access.audience import Partition
from lorebank.errors import InvalidInput
from lorebank.vaults.evidence.descriptors import content_path, decode, descriptor_path
from lorebank.vaults.record.values import Finding
from lorebank.vaults.store.values import Descriptor

_PATH: Final = re.compile(r"artifacts/([0-9a-f]{2})/(\1[0-9a-f]{62})/([^/]+)\.json")


def is_descriptor_path(path: str) -> bool:
    """Whether a file of a partition must be a descriptor."""
    return _PATH.fullmatch(path) is not None


def parse_descriptor(path: str, data: bytes, partition: Partition) -> Descriptor | Finding:
    """One descriptor, or what is wrong with it. It stands beside the source that it describes, under its id:
    one that says otherwise describes nothing."""
    try:
        found = decode(data, path, partition)
    except InvalidInput as exc:
        return Finding(path, 0, "descriptor.form", exc.message)
    if found.path != content_path(found.sha256) or path != descriptor_path(found.sha256, found.id):
        message = "the descriptor does not stand beside its source under its own id; put it back there"
        return Finding(path, 0, "descriptor.place", message)
    return found
