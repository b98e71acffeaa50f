"""What must hold in a store, beyond what SQLite itself checks."""

from __future__ import annotations

from lorebank.storage.sqlite.reader import SqliteReader

# Each statement counts the rows that break a rule.
_RULES = {
    "memories whose proof count is not the number of their sources": """
        SELECT count(*) FROM memories m
        WHERE proof_count <> coalesce(
            (SELECT nullif(count(*), 0) FROM observation_sources WHERE memory_key = m.key),
            (SELECT count(*) FROM memory_sources WHERE memory_key = m.key))""",
    "memories that name a document they do not rest on": """
        SELECT count(*) FROM memories m WHERE NOT EXISTS (
            SELECT 1 FROM memory_sources s WHERE s.memory_key = m.key
            AND s.document_id IS m.document_id AND s.chunk_id IS m.chunk_id)""",
    "sources that name a document that is gone": """
        SELECT count(*) FROM memory_sources s WHERE document_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM documents WHERE id = s.document_id)""",
    "sources that name a chunk that is gone": """
        SELECT count(*) FROM memory_sources s WHERE chunk_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM chunks WHERE id = s.chunk_id)""",
    "entities whose mention count is wrong": """
        SELECT count(*) FROM entities e WHERE mention_count <>
        (SELECT count(*) FROM memory_entities WHERE entity_key = e.key AND valid = 1)""",
    "mentions that disagree with the state of their memory": """
        SELECT count(*) FROM memory_entities e JOIN memories m ON m.key = e.memory_key
        WHERE e.valid <> (m.state = 'valid')""",
    "memories whose entity keys are not those of their mentions": """
        SELECT count(*) FROM memories m WHERE entity_keys <> coalesce((
            SELECT group_concat(entity_key) FROM (
                SELECT entity_key FROM memory_entities WHERE memory_key = m.key ORDER BY position)), '')""",
    "memories whose dates end before they start": """
        SELECT count(*) FROM memories WHERE occurred_end < occurred_start""",
    "memories both stored and noted as deleted": """
        SELECT count(*) FROM tombstones WHERE key IN (SELECT key FROM memories)""",
    "rows stamped later than the store": """
        SELECT (SELECT count(*) FROM memories, store WHERE memories.seq > store.seq)
        + (SELECT count(*) FROM vectors, store WHERE vectors.seq > store.seq)
        + (SELECT count(*) FROM links, store WHERE links.seq > store.seq)""",
    "vectors of different lengths under one model": """
        SELECT count(*) FROM (SELECT model_key FROM vectors GROUP BY model_key
        HAVING min(length(data)) <> max(length(data)))""",
}


def check_store(reader: SqliteReader) -> list[str]:
    """What is wrong, one plain sentence each."""
    problems = [f"SQLite reports: {text}" for text in reader.pragma("integrity_check") if text != "ok"]
    broken = len(reader.pragma("foreign_key_check"))
    if broken:
        problems.append(f"{broken} rows refer to rows that are gone")
    for rule, statement in _RULES.items():
        number = reader.number(statement)
        if number:
            problems.append(f"{number} {rule}")
    return problems
