"""The names of the statements in sql/vault.sql."""

from __future__ import annotations

from lorebank.storage.sqlite.queries import Sections


class VaultSql(Sections):
    """sql/vault.sql"""

    checkpoint: str
    first_checkpoint: str
    move_checkpoint: str
    partition: str
    partitions: str
    add_partition: str
    move_partition: str
    catalogue: str
    put_file: str
    key_of: str
    free_path: str
    move_file: str
    drop_file: str
    accept: str
    journaled: str
    open_journal: str
    unfinished: str
    publish: str
    conflict: str
    forget: str
    finish: str
    add_line: str
    backlog: str
    uncommitted: str
    commit_line: str
    history: str
    line: str
    last_revisions: str
    recent: str
    keep: str
    kept: str
    drop_kept: str
    verdict: str
    set_verdict: str
    vectors: str
    set_vector: str
    drop_known_vector: str
    drop_vector_at: str
