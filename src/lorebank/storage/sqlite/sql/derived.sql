-- meta --
-- A stored value.
SELECT value FROM meta WHERE name = :name

-- index_rows --
-- The columns of `IndexRow`, keys joined by commas, of memories changed after a seq, by seq.
SELECT m.key, m.seq, m.fact_type, m.tags, m.terms, m.occurred_start, m.occurred_end, m.precision, m.mentioned_at,
    m.proof_count, m.tokens, m.thread, m.position, m.speaker, m.asks,
    m.entity_keys,
    CASE WHEN m.fact_type = 'observation' THEN
        (SELECT group_concat(s.source_key) FROM observation_sources s WHERE s.memory_key = m.key)
    END, m.state = 'valid'
FROM memories m WHERE m.seq > :after ORDER BY m.seq, m.key

-- deleted_keys --
-- Keys of memories deleted after a seq.
SELECT key FROM tombstones WHERE seq > :after

-- all_vectors --
-- (memory key, float16 row) of every vector of a model.
SELECT v.memory_key, v.data FROM vectors v JOIN vector_models t ON t.key = v.model_key
WHERE t.id = :model ORDER BY v.key

-- new_vectors --
-- The same for vectors written after a seq and for those of memories changed after it.
SELECT v.memory_key, v.data FROM vectors v WHERE v.key IN (
    SELECT w.key FROM vectors w
    WHERE w.model_key = (SELECT key FROM vector_models WHERE id = :model) AND w.seq > :after
    UNION
    -- CROSS JOIN keeps SQLite from starting at the vectors.
    SELECT w.key FROM memories m CROSS JOIN vectors w ON w.memory_key = m.key
    WHERE m.seq > :after AND w.model_key = (SELECT key FROM vector_models WHERE id = :model)
) ORDER BY v.key

-- missing_vectors --
-- (key, text_seq, text, text before it in its thread under the same tags) of visible valid memories
-- without a vector of a model, oldest first.
SELECT m.key, m.text_seq, m.text, (
    SELECT CASE WHEN p.tags = m.tags THEN p.text END FROM memories p
    WHERE p.thread = m.thread AND p.position < m.position AND p.state = 'valid' ORDER BY p.position DESC LIMIT 1
) FROM memories m
WHERE m.text_seq > :complete AND +m.state = 'valid' AND {seen} AND NOT EXISTS (
    SELECT 1 FROM vectors v JOIN vector_models t ON t.key = v.model_key
    WHERE v.memory_key = m.key AND t.id = :model
) ORDER BY m.text_seq, m.key LIMIT :limit

-- missing_count --
-- How many there are.
SELECT count(*) FROM memories m
WHERE m.text_seq > :complete AND +m.state = 'valid' AND {seen} AND NOT EXISTS (
    SELECT 1 FROM vectors v JOIN vector_models t ON t.key = v.model_key
    WHERE v.memory_key = m.key AND t.id = :model
)

-- vector_models --
-- (model id, number of vectors).
SELECT t.id, count(v.key) FROM vector_models t LEFT JOIN vectors v ON v.model_key = t.key GROUP BY t.id

-- last_model --
-- The model of the vector written last.
SELECT t.id FROM vectors v JOIN vector_models t ON t.key = v.model_key ORDER BY v.key DESC LIMIT 1

-- vector_epoch --
-- How often vectors were dropped.
SELECT vector_epoch FROM store

-- links --
-- Links written after a seq.
SELECT l.source, l.target, l.type, l.weight FROM links l WHERE l.seq > :after ORDER BY l.seq, l.source, l.target

-- links_between --
-- Links whose two ends are visible and among the keys of a JSON array.
SELECT l.source, l.target, l.type, l.weight FROM links l
JOIN memories m ON m.key = l.source JOIN memories o ON o.key = l.target
WHERE l.source IN (SELECT value FROM json_each(:keys)) AND l.target IN (SELECT value FROM json_each(:keys))
AND {seen} AND {other} ORDER BY l.source, l.target, l.type

-- count_memories --
-- (fact type, number) of the visible valid memories.
SELECT m.fact_type, count(*) FROM memories m WHERE m.state = 'valid' AND {seen} GROUP BY m.fact_type

-- count_documents --
-- The number of visible documents.
SELECT count(*) FROM documents d WHERE {docs}

-- count_entities --
-- The number of entities that a valid memory names.
SELECT count(*) FROM entities WHERE mention_count > 0

-- count_entities_seen --
-- The number of entities that a visible valid memory names.
SELECT count(DISTINCT n.entity_key) FROM memory_entities n JOIN memories m ON m.key = n.memory_key
WHERE n.valid = 1 AND {seen}

-- count_links --
-- (fact type of the source, link type, number).
SELECT m.fact_type, l.type, count(*) FROM links l JOIN memories m ON m.key = l.source GROUP BY m.fact_type, l.type

-- count_links_seen --
-- The same over links whose two ends are visible.
SELECT m.fact_type, l.type, count(*) FROM links l
JOIN memories m ON m.key = l.source JOIN memories o ON o.key = l.target
WHERE {seen} AND {other} GROUP BY m.fact_type, l.type

-- count_operations --
-- (status, number).
SELECT o.status, count(*) FROM operations o WHERE {mine} GROUP BY o.status

-- last_memory --
-- When a visible memory was last written.
SELECT max(m.updated_at) FROM memories m WHERE {seen}

-- last_document --
-- When a visible document was last written.
SELECT max(d.updated_at) FROM documents d WHERE {docs}
