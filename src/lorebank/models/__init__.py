"""Everything that calls a model, or turns a file into text, behind small ports."""

from __future__ import annotations
