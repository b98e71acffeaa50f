"""Portable archives of banks: export, import, clone. The format is described in docs/transfer-format.md."""
