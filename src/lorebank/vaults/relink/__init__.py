"""Relink: linking remembered claims to the one page that they name (seed 002)."""
