-- page --
-- Visible documents without text, most recently updated first, each with its number of visible valid memories.
SELECT d.id, NULL, d.text_length, d.content_hash, d.metadata, d.retain_params, d.tags, d.observation_scopes,
    d.created_at, d.updated_at, (
        SELECT count(DISTINCT m.key) FROM memory_sources s CROSS JOIN memories m ON m.key = s.memory_key
        WHERE s.document_id = d.id AND m.state = 'valid' AND {seen}
    )
FROM documents d WHERE {where} ORDER BY d.updated_at DESC, d.id DESC LIMIT :limit OFFSET :offset

-- total --
-- How many documents a query has on all pages.
SELECT count(*) FROM documents d WHERE {where}

-- matching_text --
-- (id, id contains the text, text contains it) of visible documents.
SELECT d.id, contains(d.id, :text), contains(d.text, :text) FROM documents d
WHERE d.id IN (SELECT value FROM json_each(:ids)) AND {docs}

-- by_id --
-- One visible document with its text.
SELECT d.id, d.text, d.text_length, d.content_hash, d.metadata, d.retain_params, d.tags, d.observation_scopes,
    d.created_at, d.updated_at, (
        SELECT count(DISTINCT m.key) FROM memory_sources s CROSS JOIN memories m ON m.key = s.memory_key
        WHERE s.document_id = d.id AND m.state = 'valid' AND {seen}
    )
FROM documents d WHERE d.id = :id AND {docs}

-- events --
-- The history of a visible document, newest first.
SELECT v.document_id, v.kind, v.at, v.operation_id, v.fact_id, v.facts_added, v.facts_removed
FROM document_events v JOIN documents d ON d.id = v.document_id WHERE d.id = :id AND {docs}
ORDER BY v.at DESC, v.key DESC LIMIT :limit OFFSET :offset

-- events_total --
-- How long that history is.
SELECT count(*) FROM document_events v JOIN documents d ON d.id = v.document_id WHERE d.id = :id AND {docs}

-- fact_types --
-- (fact type, count) of the visible valid memories that rest on a visible document.
SELECT m.fact_type, count(DISTINCT m.key) FROM memory_sources s
CROSS JOIN memories m ON m.key = s.memory_key JOIN documents d ON d.id = s.document_id
WHERE s.document_id = :id AND m.state = 'valid' AND {seen} AND {docs} GROUP BY m.fact_type

-- chunks --
-- The chunks of a visible document in order.
SELECT {columns} FROM chunks c JOIN documents d ON d.id = c.document_id WHERE d.id = :id AND {docs}
ORDER BY c.chunk_index, c.id LIMIT :limit OFFSET :offset

-- chunks_total --
-- How many chunks a visible document has.
SELECT count(*) FROM chunks c JOIN documents d ON d.id = c.document_id WHERE d.id = :id AND {docs}

-- chunks_by_id --
-- Chunks of visible documents whose ids are in a JSON array.
SELECT {columns} FROM chunks c JOIN documents d ON d.id = c.document_id
WHERE c.id IN (SELECT value FROM json_each(:ids)) AND {docs}
