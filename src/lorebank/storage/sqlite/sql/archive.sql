-- page --
-- Visible memories in any state after a key, with `values.MEMORY`, terms, speaker and asks, by key.
SELECT {columns}, m.terms, m.speaker, m.asks FROM memories m WHERE m.key > :after AND {seen}
ORDER BY m.key LIMIT :limit

-- sources --
-- (memory key, document, chunk) of the sources of these memories, without those in hidden documents.
SELECT s.memory_key, s.document_id, s.chunk_id FROM memory_sources s LEFT JOIN documents d ON d.id = s.document_id
WHERE s.memory_key IN (SELECT value FROM json_each(:keys)) AND (s.document_id IS NULL OR {docs})
ORDER BY s.memory_key, s.ordinal

-- entity_ids --
-- (memory key, entity id) of these memories, in order of mention.
SELECT e.memory_key, n.id FROM memory_entities e JOIN entities n ON n.key = e.entity_key
WHERE e.memory_key IN (SELECT value FROM json_each(:keys)) ORDER BY e.memory_key, e.position

-- history --
-- (memory key, at, change, before) of these memories, newest first.
SELECT memory_key, at, change, before FROM memory_history
WHERE memory_key IN (SELECT value FROM json_each(:keys)) ORDER BY memory_key, key DESC

-- insert_entity --
-- Makes an entity under a given id; a name or an id that is there already stays as it is.
INSERT INTO entities (key, id, name, name_key, type, mention_count) VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING

-- entities_by_id --
-- (id, name, type) of the entities with these ids.
SELECT id, name, type FROM entities WHERE id IN (SELECT value FROM json_each(:ids))

-- memory_keys --
-- (id, key) of the memories with these ids.
SELECT id, key FROM memories WHERE id IN (SELECT value FROM json_each(:ids))

-- insert_memory --
-- Inserts a memory with every column.
INSERT INTO memories (
    key, seq, text_seq, id, text, context, fact_type, tokens, occurred_start, occurred_end, precision, mentioned_at,
    document_id, chunk_id, metadata, tags, thread, position, proof_count, state, invalidation_reason,
    invalidated_at, edited_at, created_at, updated_at, terms, speaker, asks, dedup
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- insert_version --
-- Inserts an earlier version.
INSERT INTO memory_history (memory_key, at, change, before) VALUES (?, ?, ?, ?)
