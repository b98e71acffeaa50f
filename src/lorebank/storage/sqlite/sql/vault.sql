-- checkpoint --
-- What vault.json must show.
SELECT vault, generation, publication_id FROM checkpoint

-- first_checkpoint --
-- The checkpoint of a new store.
INSERT INTO checkpoint (id, vault, generation, publication_id, created_at)
VALUES (1, :vault, :generation, :publication_id, :now)

-- move_checkpoint --
-- The publication of a journal row is what vault.json shows now.
UPDATE checkpoint SET (generation, publication_id) = (
    SELECT generation, publication_id FROM journal WHERE folder = :folder AND request_id = :request_id
)

-- partition --
-- One partition.
SELECT folder, device, inode FROM partitions WHERE folder = :folder

-- partitions --
-- All of them.
SELECT folder, device, inode FROM partitions ORDER BY folder

-- add_partition --
-- Fails when the folder is there.
INSERT INTO partitions (folder, device, inode) VALUES (:folder, :device, :inode)

-- move_partition --
-- An operator says that this folder is the partition's.
UPDATE partitions SET device = :device, inode = :inode WHERE folder = :folder

-- catalogue --
-- The files of a partition, by path, in the order of CatalogueRow.
SELECT key, folder, path, kind, inode, size, mtime_ns, ctime_ns, sha256, revision, record, findings
FROM catalogue WHERE folder = :folder ORDER BY path

-- put_file --
-- A new or changed file; the key of a path that is there stays.
INSERT INTO catalogue (folder, path, kind, inode, size, mtime_ns, ctime_ns, sha256, revision, record, findings)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (folder, path) DO UPDATE SET
    kind = excluded.kind, inode = excluded.inode, size = excluded.size, mtime_ns = excluded.mtime_ns,
    ctime_ns = excluded.ctime_ns, sha256 = excluded.sha256, revision = excluded.revision,
    record = excluded.record, findings = excluded.findings

-- key_of --
-- The key of a path.
SELECT key FROM catalogue WHERE folder = ? AND path = ?

-- free_path --
-- A file leaves its path before others take it.
UPDATE catalogue SET path = ? WHERE key = ?

-- move_file --
-- A known file under another path, or changed: its key stays.
UPDATE catalogue SET folder = ?, path = ?, kind = ?, inode = ?, size = ?, mtime_ns = ?, ctime_ns = ?, sha256 = ?,
    revision = ?, record = ?, findings = ? WHERE key = ?

-- drop_known_vector --
-- Before a file is written down by its key: the vector of another text.
DELETE FROM vectors WHERE key = ? AND key IN (SELECT key FROM catalogue WHERE key = ? AND sha256 <> ?)

-- drop_vector_at --
-- The same before it is written down by its place.
DELETE FROM vectors WHERE key IN (SELECT key FROM catalogue WHERE folder = ? AND path = ? AND sha256 <> ?)

-- drop_file --
-- A file that is gone; its vector goes with it.
DELETE FROM catalogue WHERE folder = ? AND key = ?

-- accept --
-- A publication begins.
INSERT INTO journal (
    request_id, digest, folder, agent, change, files, records, answer, message, generation, publication_id, state,
    accepted_at, published_at, git_commit
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- journaled --
-- A publication of a partition, in the order of JournalRow.
SELECT request_id, digest, folder, agent, change, files, records, answer, message, generation, publication_id, state,
    accepted_at, published_at, git_commit
FROM journal WHERE folder = :folder AND request_id = :request_id

-- open_journal --
-- Publications that do not count yet, oldest first.
SELECT request_id, digest, folder, agent, change, files, records, answer, message, generation, publication_id, state,
    accepted_at, published_at, git_commit
FROM journal WHERE state <> 'published' ORDER BY number

-- unfinished --
-- Publications that git does not have, oldest first.
SELECT request_id, digest, folder, agent, change, files, records, answer, message, generation, publication_id, state,
    accepted_at, published_at, git_commit
FROM journal WHERE state = 'published' AND git_commit IS NULL ORDER BY number

-- publish --
-- It counts.
UPDATE journal SET state = 'published', published_at = :at
WHERE folder = :folder AND request_id = :request_id AND state <> 'published'

-- conflict --
-- It waits for the operator.
UPDATE journal SET state = 'conflicted' WHERE folder = :folder AND request_id = :request_id AND state = 'accepted'

-- forget --
-- It never was; what counts stays.
DELETE FROM journal WHERE folder = :folder AND request_id = :request_id AND state <> 'published'

-- finish --
-- Git has it: the contents are not needed any more.
UPDATE journal SET git_commit = ?, files = x'' WHERE folder = ? AND request_id = ? AND git_commit IS NULL

-- add_line --
-- A line of history.
INSERT INTO history (
    folder, record_id, revision, path, title, change, agent, at, sha256, git_blob, git_commit, request_id, message,
    old_path
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- backlog --
-- How much git does not have.
SELECT (SELECT count(*) FROM history WHERE git_commit IS NULL)
    + (SELECT count(*) FROM journal WHERE state = 'published' AND git_commit IS NULL)

-- uncommitted --
-- Lines that git does not have, oldest first, in the order of HistoryLine.
SELECT seq, folder, record_id, revision, path, title, change, agent, at, sha256, git_blob, git_commit, request_id,
    message, old_path
FROM history WHERE git_commit IS NULL ORDER BY seq

-- commit_line --
-- Git has it.
UPDATE history SET git_blob = ?, git_commit = ? WHERE seq = ?

-- history --
-- The lines of a record, newest first.
SELECT seq, folder, record_id, revision, path, title, change, agent, at, sha256, git_blob, git_commit, request_id,
    message, old_path
FROM history
WHERE folder = :folder AND record_id = :record_id AND (:before IS NULL OR seq < :before)
ORDER BY seq DESC LIMIT :limit

-- line --
-- One line of a partition.
SELECT seq, folder, record_id, revision, path, title, change, agent, at, sha256, git_blob, git_commit, request_id,
    message, old_path
FROM history WHERE folder = :folder AND seq = :seq

-- last_revisions --
-- The highest revision of each record.
SELECT record_id, max(revision) FROM history
WHERE folder = :folder AND record_id IS NOT NULL AND revision IS NOT NULL GROUP BY record_id

-- recent --
-- The newest line of each record, newest first.
SELECT seq, folder, record_id, revision, path, title, change, agent, at, sha256, git_blob, git_commit, request_id,
    message, old_path
FROM history h
WHERE folder = :folder AND record_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM history n WHERE n.folder = h.folder AND n.record_id = h.record_id AND n.seq > h.seq
)
ORDER BY seq DESC LIMIT :limit

-- keep --
-- Contents that git does not have.
INSERT INTO kept (sha256, content) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING

-- kept --
-- Kept contents.
SELECT content FROM kept WHERE sha256 = :sha256

-- drop_kept --
-- Nothing that git lacks needs these any more.
DELETE FROM kept WHERE sha256 NOT IN (
    SELECT sha256 FROM history WHERE git_commit IS NULL AND sha256 IS NOT NULL
)

-- verdict --
-- (stamp, verdict).
SELECT stamp, verdict FROM verdicts WHERE key = :key

-- set_verdict --
-- The newest verdict counts.
INSERT INTO verdicts (key, stamp, verdict) VALUES (:key, :stamp, :verdict)
ON CONFLICT (key) DO UPDATE SET stamp = excluded.stamp, verdict = excluded.verdict

-- vectors --
-- (key, model, SHA-256 of the file that it was made from, vector) of a partition.
SELECT v.key, v.model, c.sha256, v.vector FROM catalogue c JOIN vectors v ON v.key = c.key WHERE c.folder = :folder

-- set_vector --
-- The newest vector counts; a file that is gone or is another one by now is left out.
INSERT INTO vectors (key, model, vector) SELECT key, ?, ? FROM catalogue WHERE key = ? AND sha256 = ?
ON CONFLICT (key) DO UPDATE SET model = excluded.model, vector = excluded.vector
