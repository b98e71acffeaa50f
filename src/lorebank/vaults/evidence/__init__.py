"""Retained evidence: descriptors, citations, streaming verification."""
