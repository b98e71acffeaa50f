-- A plus sign before a column keeps SQLite from using its index: `state` splits the memories badly,
-- and without statistics SQLite takes every equality for a good one.

-- page --
-- The memories of a page, newest first, with the columns of `values.MEMORY`.
SELECT {columns} FROM memories m WHERE {where}
ORDER BY {hint}m.created_at DESC, m.key DESC LIMIT :limit OFFSET :offset

-- total --
-- How many memories a query has on all pages.
SELECT count(*) FROM memories m WHERE {where}

-- by_key --
-- Visible valid memories whose keys are in a JSON array.
SELECT {columns} FROM memories m
WHERE m.key IN (SELECT value FROM json_each(:keys)) AND +m.state = 'valid' AND {seen}

-- by_id --
-- One visible memory in any state.
SELECT {columns} FROM memories m WHERE m.id = :id AND {seen}

-- history --
-- (at, change, before) of the earlier versions of a visible memory, newest first.
SELECT h.at, h.change, h.before FROM memory_history h JOIN memories m ON m.key = h.memory_key
WHERE m.id = :id AND {seen} ORDER BY h.key DESC

-- same_facts --
-- (dedup, key) of the visible valid memories with one of these digests; the oldest last, so that it wins.
SELECT m.dedup, m.key FROM memories m
WHERE m.dedup IN (SELECT value FROM json_each(:digests)) AND +m.state = 'valid' AND {seen} ORDER BY m.key DESC

-- entity_names --
-- (memory key, entity name) of these memories, in order of mention.
SELECT e.memory_key, n.name FROM memory_entities e JOIN entities n ON n.key = e.entity_key
WHERE e.memory_key IN (SELECT value FROM json_each(:keys)) ORDER BY e.memory_key, e.position

-- hidden_documents --
-- Which of these document ids belong to hidden documents.
SELECT d.id FROM documents d WHERE d.id IN (SELECT value FROM json_each(:ids)) AND NOT {docs}

-- source_ids --
-- (observation key, public id) of the visible memories that these observations rest on.
SELECT s.memory_key, m.id FROM observation_sources s JOIN memories m ON m.key = s.source_key
WHERE s.memory_key IN (SELECT value FROM json_each(:keys)) AND {seen} ORDER BY s.memory_key, s.source_key

-- next_position --
-- One more than the largest position in a thread.
SELECT coalesce(max(position) + 1, 0) FROM memories WHERE thread = :thread

-- tag_sets --
-- (tags, count) of the visible valid memories, one row for each different tag set.
SELECT m.tags, count(*) FROM memories m WHERE +m.state = 'valid' AND {seen} GROUP BY m.tags

-- all_tags --
-- Every tag that a memory or a document carries, whoever may see it.
SELECT DISTINCT value FROM (
    SELECT DISTINCT tags FROM memories UNION SELECT DISTINCT tags FROM documents
), json_each(tags) ORDER BY value

-- time_buckets --
-- (bucket, fact type, count) of visible valid memories since a time.
SELECT {bucket} AS bucket, m.fact_type, count(*) FROM memories m
WHERE m.state = 'valid' AND m.{field} >= :start AND {seen} GROUP BY bucket, m.fact_type ORDER BY bucket, m.fact_type
