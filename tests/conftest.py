"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no failure: speed is measured by `make bench`, never by a test.
settings.register_profile("lorebank", deadline=None)
settings.load_profile("lorebank")
