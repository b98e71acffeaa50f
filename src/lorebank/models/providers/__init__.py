"""Concrete models. Outside this room only `bootstrap` names them; others see the ports."""

from __future__ import annotations
