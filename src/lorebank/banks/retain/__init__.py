"""Retain: items become documents, chunks and memories in one durable commit.

`service` is the door; `items`, `drafts`, `delta` and `facts` are pure; `commit` is the one place
that writes. Extraction, tokens and keyword terms are made before the writer lane is taken.
"""
