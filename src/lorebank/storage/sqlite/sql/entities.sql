-- page --
-- Entities by the number of valid memories that name them, most first; only for readers that see everything.
SELECT key, id, name, type, mention_count, first_seen, last_seen FROM entities WHERE mention_count > 0
ORDER BY mention_count DESC, key LIMIT :limit OFFSET :offset

-- total --
-- How many entities a valid memory names.
SELECT count(*) FROM entities WHERE mention_count > 0

-- filtered_page --
-- Entities by the number of visible valid memories that match, most first.
SELECT e.key, e.id, e.name, e.type, count(*) AS mentions, min(n.seen), max(n.seen)
FROM memory_entities n JOIN memories m ON m.key = n.memory_key JOIN entities e ON e.key = n.entity_key
WHERE n.valid = 1 AND {seen} AND {asked} GROUP BY e.key
ORDER BY mentions DESC, e.key LIMIT :limit OFFSET :offset

-- filtered_total --
-- How many entities a visible valid memory that matches names.
SELECT count(DISTINCT n.entity_key) FROM memory_entities n JOIN memories m ON m.key = n.memory_key
WHERE n.valid = 1 AND {seen} AND {asked}

-- by_id --
-- One entity that a valid memory names; only for readers that see everything.
SELECT key, id, name, type, mention_count, first_seen, last_seen FROM entities
WHERE id = :id AND mention_count > 0

-- filtered_by_id --
-- One entity that a visible valid memory that matches names.
SELECT e.key, e.id, e.name, e.type, count(*), min(n.seen), max(n.seen)
FROM entities e JOIN memory_entities n ON n.entity_key = e.key JOIN memories m ON m.key = n.memory_key
WHERE e.id = :id AND n.valid = 1 AND {seen} AND {asked} GROUP BY e.key

-- memories --
-- Visible valid memories that match and name an entity, newest first.
SELECT {columns} FROM memory_entities n JOIN entities e ON e.key = n.entity_key
JOIN memories m ON m.key = n.memory_key
WHERE e.id = :id AND n.valid = 1 AND {seen} AND {asked} ORDER BY m.created_at DESC, m.key DESC LIMIT :limit

-- names --
-- (name, type) of every entity that a visible memory names, by name.
SELECT e.name, e.type FROM entities e WHERE EXISTS (
    SELECT 1 FROM memory_entities n JOIN memories m ON m.key = n.memory_key WHERE n.entity_key = e.key AND {seen}
) ORDER BY e.name_key

-- of_memories --
-- (memory key, entity columns) for visible memories, in order of mention.
SELECT n.memory_key, e.key, e.id, e.name, e.type, e.mention_count, e.first_seen, e.last_seen
FROM memory_entities n JOIN entities e ON e.key = n.entity_key JOIN memories m ON m.key = n.memory_key
WHERE n.memory_key IN (SELECT value FROM json_each(:keys)) AND {seen} ORDER BY n.memory_key, n.position

-- named --
-- The entities of these name keys.
SELECT key, id, name, type, mention_count, first_seen, last_seen FROM entities
WHERE name_key IN (SELECT value FROM json_each(:names))

-- numbers_of --
-- (entity key, mentions, first seen, last seen) over visible valid memories.
SELECT n.entity_key, count(*), min(n.seen), max(n.seen)
FROM memory_entities n JOIN memories m ON m.key = n.memory_key
WHERE n.entity_key IN (SELECT value FROM json_each(:keys)) AND n.valid = 1 AND {seen} GROUP BY n.entity_key

-- pairs --
-- (entity id, entity id, memories that name both, latest time, number of pairs), most frequent first.
SELECT x.id, y.id, p.mentions, p.latest, count(*) OVER () FROM (
    SELECT a.entity_key AS first, b.entity_key AS second, count(*) AS mentions, max(a.seen) AS latest
    FROM memory_entities a JOIN memory_entities b ON b.memory_key = a.memory_key AND b.entity_key > a.entity_key
    JOIN memories m ON m.key = a.memory_key
    WHERE a.valid = 1 AND {seen} AND {asked} GROUP BY first, second HAVING mentions >= :min_count
) p JOIN entities x ON x.key = p.first JOIN entities y ON y.key = p.second
ORDER BY p.mentions DESC, p.first, p.second LIMIT :limit
