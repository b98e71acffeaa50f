-- log --
-- (uuid, anchor seq, anchor hash).
SELECT uuid, anchor_seq, anchor_hash FROM log

-- head --
-- (seq, hash) of the newest row, or of the anchor where there is no row.
SELECT seq, hash FROM (
    SELECT seq, hash FROM events UNION ALL SELECT anchor_seq, anchor_hash FROM log
) ORDER BY seq DESC LIMIT 1

-- create --
-- Begins a log.
INSERT INTO log (id, uuid, created_at, anchor_seq, anchor_hash) VALUES (1, :uuid, :now, 0, :hash)

-- append --
-- Adds a row.
INSERT INTO events (seq, at, principal, action, outcome, transport, bank, request_id, event, hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- page --
-- Rows newest first, each with the hash before it.
SELECT e.seq, e.event, coalesce(p.hash, (SELECT anchor_hash FROM log)), e.hash
FROM events e LEFT JOIN events p ON p.seq = e.seq - 1
WHERE {where} ORDER BY e.seq DESC LIMIT :limit OFFSET :offset

-- total --
-- How many rows match.
SELECT count(*) FROM events e WHERE {where}

-- buckets --
-- (start, action, count) by time.
SELECT e.at - ((e.at % :width) + :width) % :width AS start, e.action, count(*) FROM events e
WHERE {where} GROUP BY start, e.action ORDER BY start, e.action

-- walk --
-- Every row in order, with the columns that repeat parts of the event.
SELECT seq, at, principal, action, outcome, transport, bank, request_id, event, hash FROM events ORDER BY seq

-- count --
-- How many rows there are.
SELECT count(*) FROM events

-- last_before --
-- The newest row that is followed by none older than a time; NULL where there is none.
SELECT coalesce((SELECT min(seq) FROM events WHERE at >= :before) - 1, (SELECT max(seq) FROM events))

-- hash_at --
-- The hash of a row.
SELECT hash FROM events WHERE seq = :seq

-- raise_anchor --
-- Moves the anchor to a row.
UPDATE log SET anchor_seq = :seq, anchor_hash = (SELECT hash FROM events WHERE seq = :seq)

-- drop_rows --
-- Removes the rows up to the anchor.
DELETE FROM events WHERE seq <= (SELECT anchor_seq FROM log)

-- claim --
-- Notes a token id unless it is noted and still valid.
INSERT INTO token_ids (id, digest, expires_at) VALUES (:id, :digest, :expires_at)
ON CONFLICT (id) DO UPDATE SET digest = excluded.digest, expires_at = excluded.expires_at
WHERE token_ids.expires_at <= :now

-- claimed --
-- The digest noted with a token id.
SELECT digest FROM token_ids WHERE id = :id

-- forget_tokens --
-- Removes ids of tokens that have expired.
DELETE FROM token_ids WHERE expires_at <= :now

-- key_uses --
-- (key id, time) of every key.
SELECT key_id, used_at FROM key_uses

-- note_use --
-- Notes when a key was used.
INSERT INTO key_uses (key_id, used_at) VALUES (?, ?)
ON CONFLICT (key_id) DO UPDATE SET used_at = max(used_at, excluded.used_at)

-- forget_use --
-- Removes what is noted of a key.
DELETE FROM key_uses WHERE key_id = ?
