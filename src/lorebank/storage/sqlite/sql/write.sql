-- next_key --
-- The highest key that a table with AUTOINCREMENT ever used.
SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = :table

-- insert_memory --
-- Inserts a memory under a key chosen before.
INSERT INTO memories (
    key, seq, text_seq, id, fact_type, state, tokens, occurred_start, occurred_end, precision, mentioned_at,
    document_id, chunk_id, metadata, tags, thread, position, speaker, asks, proof_count, created_at, updated_at,
    dedup, context, text, terms
) VALUES (?, ?, ?, ?, ?, 'valid', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- insert_source --
-- Adds a source to a memory.
INSERT INTO memory_sources (memory_key, ordinal, document_id, chunk_id) VALUES (?, ?, ?, ?)

-- sources_of --
-- (ordinal, document, chunk) of the sources of a memory.
SELECT ordinal, document_id, chunk_id FROM memory_sources WHERE memory_key = :key ORDER BY ordinal

-- add_proof --
-- Counts the sources of a memory anew after one was added.
UPDATE memories SET proof_count = (SELECT count(*) FROM memory_sources WHERE memory_key = memories.key),
    seq = :seq, updated_at = :now WHERE key = :key

-- entity_keys --
-- (name key, key) of the entities with these name keys.
SELECT name_key, key FROM entities WHERE name_key IN (SELECT value FROM json_each(:names))

-- insert_entity --
-- Makes an entity that nothing mentions yet.
INSERT INTO entities (key, id, name, name_key, type, mention_count) VALUES (?, ?, ?, ?, ?, 0)

-- mention_entity --
-- Counts further mentions of an entity between two times.
UPDATE entities SET mention_count = mention_count + ?1, first_seen = min(coalesce(first_seen, ?2), ?2),
    last_seen = max(coalesce(last_seen, ?3), ?3) WHERE key = ?4

-- insert_mention --
-- Notes that a memory names an entity.
INSERT INTO memory_entities (memory_key, position, entity_key, valid, seen) VALUES (?, ?, ?, ?, ?)

-- set_entity_keys --
-- Keeps the entities of a memory beside it.
UPDATE memories SET entity_keys = ? WHERE key = ?

-- drop_mentions --
-- Forgets what a memory names.
DELETE FROM memory_entities WHERE memory_key = :key

-- unmention_entity --
-- Counts mentions of an entity out; its times are those of what is left.
UPDATE entities SET mention_count = mention_count - ?1,
    first_seen = (SELECT min(seen) FROM memory_entities WHERE entity_key = ?2 AND valid = 1),
    last_seen = (SELECT max(seen) FROM memory_entities WHERE entity_key = ?2 AND valid = 1)
WHERE key = ?2

-- delete_unnamed --
-- Deletes those of these entities that no memory in any state names.
DELETE FROM entities WHERE key IN (SELECT value FROM json_each(:keys))
AND NOT EXISTS (SELECT 1 FROM memory_entities WHERE entity_key = entities.key)

-- mentions_of --
-- (valid mentions, entity key) of the entities that these memories name.
SELECT sum(valid), entity_key FROM memory_entities WHERE memory_key IN (SELECT value FROM json_each(:keys))
GROUP BY entity_key

-- full_row --
-- What an edit needs of a visible memory.
SELECT m.id, m.text, m.context, m.fact_type, m.terms, m.tokens, m.occurred_start, m.occurred_end, m.precision,
    m.mentioned_at, m.metadata, m.tags, m.thread, m.position, m.speaker, m.asks, m.state, m.invalidation_reason,
    m.invalidated_at, m.edited_at, m.created_at
FROM memories m WHERE m.key = :key AND {seen}

-- insert_version --
-- Keeps what a memory was before a change.
INSERT INTO memory_history (memory_key, at, change, before) VALUES (:key, :at, :change, :before)

-- next_in_thread --
-- The valid memories that follow these in their threads: their vectors were made with these in view.
SELECT DISTINCT (
    SELECT n.key FROM memories n WHERE n.thread = m.thread AND n.position > m.position AND n.state = 'valid'
    ORDER BY n.position LIMIT 1
) FROM memories m WHERE m.key IN (SELECT value FROM json_each(:keys)) AND m.thread IS NOT NULL

-- stale_vectors --
-- Notes that what is embedded of these memories has changed.
UPDATE memories SET seq = :seq, text_seq = :seq WHERE key IN (SELECT value FROM json_each(:keys))

-- insert_observation_source --
-- Notes that an observation rests on a memory that is there.
INSERT OR IGNORE INTO observation_sources (memory_key, source_key)
SELECT o.key, s.key FROM memories o, memories s WHERE o.key = ?1 AND s.key = ?2 AND o.key <> s.key

-- observations_on --
-- The observations that rest on one of these memories.
SELECT DISTINCT memory_key FROM observation_sources WHERE source_key IN (SELECT value FROM json_each(:keys))

-- recount_observations --
-- An observation that rests on memories has as many proofs as they are.
UPDATE memories SET seq = :seq, proof_count =
    (SELECT count(*) FROM observation_sources WHERE memory_key = memories.key)
WHERE key IN (SELECT value FROM json_each(:keys))
AND EXISTS (SELECT 1 FROM observation_sources WHERE memory_key = memories.key)

-- baseless_observations --
-- Which of these observations rest on nothing any more.
SELECT key FROM memories WHERE key IN (SELECT value FROM json_each(:keys))
AND NOT EXISTS (SELECT 1 FROM observation_sources WHERE memory_key = memories.key)

-- drop_memory_vectors --
-- Deletes the vectors of these memories, whatever the model.
DELETE FROM vectors WHERE memory_key IN (SELECT value FROM json_each(:keys))

-- drop_semantic_links --
-- Deletes the semantic links at a memory.
DELETE FROM links WHERE +type = 'semantic' AND (source = :key OR target = :key)

-- visible_keys --
-- Which of these memories are visible.
SELECT m.key FROM memories m WHERE m.key IN (SELECT value FROM json_each(:keys)) AND {seen}

-- visible_by_type --
-- Keys of the visible memories of a type, or of all types.
SELECT m.key FROM memories m WHERE (:fact_type IS NULL OR m.fact_type = :fact_type) AND {seen}

-- delete_memories --
-- Deletes memories; their sources, history, mentions, links and vectors go with them.
DELETE FROM memories WHERE key IN (SELECT value FROM json_each(:keys))

-- bury --
-- Notes for the search index that memories are gone.
INSERT INTO tombstones (key, seq) SELECT value, :seq FROM json_each(:keys)

-- put_document --
-- Inserts a document or replaces its row.
INSERT INTO documents (
    id, text_length, content_hash, metadata, retain_params, tags, observation_scopes, created_at, updated_at, text
) VALUES (
    :id, :text_length, :content_hash, :metadata, :retain_params, :tags, :observation_scopes, :created_at,
    :updated_at, :text
) ON CONFLICT (id) DO UPDATE SET
    text_length = excluded.text_length, content_hash = excluded.content_hash, metadata = excluded.metadata,
    retain_params = excluded.retain_params, tags = excluded.tags,
    observation_scopes = excluded.observation_scopes, created_at = excluded.created_at,
    updated_at = excluded.updated_at, text = excluded.text

-- document_hidden --
-- A row when one of these documents exists and is hidden.
SELECT 1 FROM documents d WHERE d.id IN (SELECT value FROM json_each(:ids)) AND NOT {docs}

-- put_chunk --
-- Inserts a chunk or replaces it.
INSERT INTO chunks (id, document_id, chunk_index, text, hash, tokens, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    document_id = excluded.document_id, chunk_index = excluded.chunk_index, text = excluded.text,
    hash = excluded.hash, tokens = excluded.tokens, created_at = excluded.created_at

-- visible_chunks --
-- Which of these chunks belong to visible documents.
SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document_id
WHERE c.id IN (SELECT value FROM json_each(:ids)) AND {docs}

-- delete_chunks --
-- Deletes chunks.
DELETE FROM chunks WHERE id IN (SELECT value FROM json_each(:ids))

-- chunk_sources --
-- (memory, ordinal) of the sources in these chunks.
SELECT memory_key, ordinal FROM memory_sources WHERE chunk_id IN (SELECT value FROM json_each(:ids))

-- document_sources --
-- (memory, ordinal) of the sources in a document.
SELECT memory_key, ordinal FROM memory_sources WHERE document_id = :id

-- delete_source --
-- Takes a source away.
DELETE FROM memory_sources WHERE memory_key = ? AND ordinal = ?

-- settle_sources --
-- Counts the sources of these memories anew and names the first that is left.
UPDATE memories SET seq = :seq, (proof_count, document_id, chunk_id) = (
    SELECT count(*) OVER (), s.document_id, s.chunk_id FROM memory_sources s WHERE s.memory_key = memories.key
    ORDER BY s.ordinal LIMIT 1
) WHERE key IN (SELECT value FROM json_each(:keys))

-- delete_document --
-- Deletes a document; its chunks and history go with it.
DELETE FROM documents WHERE id = :id

-- retag_document --
-- Sets the tags of a visible document.
UPDATE documents AS d SET tags = :tags, updated_at = :now WHERE d.id = :id AND {docs}

-- retag_memory --
-- Sets the tags of a memory.
UPDATE memories SET tags = ?, dedup = ?, seq = ?, updated_at = ? WHERE key = ?

-- insert_event --
-- Appends to the history of a document that is there.
INSERT INTO document_events (document_id, kind, at, operation_id, fact_id, facts_added, facts_removed)
SELECT d.id, :kind, :at, :operation_id, :fact_id, :facts_added, :facts_removed FROM documents d
WHERE d.id = :document_id

-- set_meta --
-- Stores a value.
INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- delete_meta --
-- Forgets a value.
DELETE FROM meta WHERE name = :name

-- set_seq --
-- Makes a sequence number the last one.
UPDATE store SET seq = :seq

-- insert_model --
-- Makes a model known.
INSERT INTO vector_models (id) VALUES (:id) ON CONFLICT (id) DO NOTHING

-- model_key --
-- The key of a model.
SELECT key FROM vector_models WHERE id = :id

-- put_vector --
-- Stores a vector unless the text of its memory has changed since it was read.
INSERT INTO vectors (model_key, memory_key, seq, data)
SELECT ?1, m.key, ?2, ?5 FROM memories m WHERE m.key = ?3 AND m.text_seq <= ?4
ON CONFLICT (memory_key, model_key) DO UPDATE SET seq = excluded.seq, data = excluded.data

-- drop_vectors --
-- Deletes the vectors of a model and the model.
DELETE FROM vectors WHERE model_key = (SELECT key FROM vector_models WHERE id = :id)

-- drop_all_vectors --
-- Deletes all vectors.
DELETE FROM vectors

-- raise_vector_epoch --
-- Says that vectors were dropped.
UPDATE store SET vector_epoch = vector_epoch + 1

-- put_link --
-- Inserts or replaces a link whose two ends are there.
INSERT OR REPLACE INTO links (source, target, type, weight, seq)
SELECT s.key, t.key, ?3, ?4, ?5 FROM memories s, memories t WHERE s.key = ?1 AND t.key = ?2

-- drop_links --
-- Deletes the links of a type.
DELETE FROM links WHERE type = :type

-- put_derived --
-- Replaces what is derived from a text that is still the same.
UPDATE memories SET terms = ?1, tokens = ?2, speaker = ?3, asks = ?4, seq = ?5 WHERE key = ?6 AND text = ?7
