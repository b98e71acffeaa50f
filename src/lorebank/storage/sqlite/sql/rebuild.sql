-- proofs --
-- The proof count of every memory is the number of what it rests on.
UPDATE memories SET seq = :seq, proof_count = max(1, coalesce(
    (SELECT nullif(count(*), 0) FROM observation_sources WHERE memory_key = memories.key),
    (SELECT count(*) FROM memory_sources WHERE memory_key = memories.key)
)) WHERE proof_count <> max(1, coalesce(
    (SELECT nullif(count(*), 0) FROM observation_sources WHERE memory_key = memories.key),
    (SELECT count(*) FROM memory_sources WHERE memory_key = memories.key)
))

-- mentions --
-- A mention is valid when its memory is.
UPDATE memory_entities SET valid = (SELECT state = 'valid' FROM memories WHERE key = memory_key)
WHERE valid <> (SELECT state = 'valid' FROM memories WHERE key = memory_key)

-- entity_keys --
-- The entity keys beside a memory are those of its mentions.
UPDATE memories SET seq = :seq, entity_keys = coalesce((SELECT group_concat(entity_key) FROM (
    SELECT entity_key FROM memory_entities WHERE memory_key = memories.key ORDER BY position)), '')
WHERE entity_keys <> coalesce((SELECT group_concat(entity_key) FROM (
    SELECT entity_key FROM memory_entities WHERE memory_key = memories.key ORDER BY position)), '')

-- entities --
-- The numbers of every entity come from its valid mentions.
UPDATE entities SET (mention_count, first_seen, last_seen) = (
    SELECT count(*), min(seen), max(seen) FROM memory_entities WHERE entity_key = entities.key AND valid = 1
)

-- tombstones --
-- What is stored is not deleted.
DELETE FROM tombstones WHERE key IN (SELECT key FROM memories)

-- vectors --
-- No vector is newer than the store.
UPDATE vectors SET seq = :seq WHERE seq > :seq

-- links --
-- Nor is a link.
UPDATE links SET seq = :seq WHERE seq > :seq

-- memories --
-- Nor is a memory.
UPDATE memories SET seq = :seq, text_seq = min(text_seq, :seq) WHERE seq > :seq
