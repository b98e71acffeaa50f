-- by_id --
-- One operation with payload and principal.
SELECT {columns}, o.payload, o.principal FROM operations o WHERE o.id = :id AND {mine}

-- page --
-- Operations of a page, newest first.
SELECT {columns} FROM operations o WHERE {where} AND {mine} ORDER BY o.created_at DESC, o.key DESC LIMIT :limit OFFSET :offset

-- total --
-- How many operations a listing has on all pages.
SELECT count(*) FROM operations o WHERE {where} AND {mine}

-- children --
-- The parts of an operation in order.
SELECT {columns} FROM operations o WHERE o.parent_id = :id AND {mine} ORDER BY o.created_at, o.key

-- blob --
-- The bytes of a blob.
SELECT data FROM blobs WHERE id = :id

-- runnable_at --
-- When the next operation can be taken: pending ones that wait for another on their document count
-- with the end of that one's lease.
SELECT min(CASE WHEN o.status = 'pending' THEN coalesce(o.next_retry_at, :now) ELSE o.lease_until END)
FROM operations o WHERE o.status IN ('pending', 'processing')
AND NOT EXISTS (SELECT 1 FROM operations c WHERE c.parent_id = o.id)
AND (o.status = 'processing' OR o.document_id IS NULL OR NOT EXISTS (
    SELECT 1 FROM operations b WHERE b.status = 'processing' AND b.document_id = o.document_id
))

-- put --
-- Inserts an operation or replaces its columns; one that is not processing afterwards has no holder any more.
INSERT INTO operations (
    id, type, status, items_count, created_at, updated_at, completed_at, document_id, filename, parent_id, error,
    retry_count, next_retry_at, stage, processed, total, result, payload, principal
) VALUES (
    :id, :type, :status, :items_count, :created_at, :updated_at, :completed_at, :document_id, :filename, :parent_id,
    :error, :retry_count, :next_retry_at, :stage, :processed, :total, :result, :payload, :principal
) ON CONFLICT (id) DO UPDATE SET
    type = excluded.type, status = excluded.status, items_count = excluded.items_count,
    created_at = excluded.created_at, updated_at = excluded.updated_at, completed_at = excluded.completed_at,
    document_id = excluded.document_id, filename = excluded.filename, parent_id = excluded.parent_id,
    error = excluded.error, retry_count = excluded.retry_count, next_retry_at = excluded.next_retry_at,
    stage = excluded.stage, processed = excluded.processed, total = excluded.total, result = excluded.result,
    payload = excluded.payload, principal = excluded.principal,
    lease_token = lease_token + (excluded.status <> 'processing'),
    lease_holder = CASE WHEN excluded.status = 'processing' THEN lease_holder END,
    lease_until = CASE WHEN excluded.status = 'processing' THEN lease_until END

-- candidate --
-- The oldest operation that may run now. Parents run through their parts; two operations on one
-- document never run side by side.
SELECT o.id FROM operations o
WHERE (
    (o.status = 'pending' AND coalesce(o.next_retry_at, :now) <= :now)
    OR (o.status = 'processing' AND (o.lease_holder IS NOT :holder OR o.lease_until <= :now))
) AND NOT EXISTS (SELECT 1 FROM operations c WHERE c.parent_id = o.id)
AND (o.document_id IS NULL OR NOT EXISTS (
    SELECT 1 FROM operations b WHERE b.status = 'processing' AND b.document_id = o.document_id AND b.id <> o.id
    AND b.lease_holder IS :holder AND b.lease_until > :now
))
ORDER BY o.created_at, o.key LIMIT 1

-- take --
-- Makes the caller the holder.
UPDATE operations SET status = 'processing', updated_at = :now, next_retry_at = NULL,
    lease_token = lease_token + 1, lease_holder = :holder, lease_until = :until
WHERE id = :id

-- renew --
-- Extends a lease that the caller still holds.
UPDATE operations SET lease_until = :until WHERE id = :id AND lease_token = :token AND status = 'processing'

-- progress --
-- Notes progress where the caller still holds the lease.
UPDATE operations SET stage = :stage, processed = :processed, total = :total, updated_at = :now
WHERE id = :id AND lease_token = :token AND status = 'processing'

-- holder --
-- (status, token, payload, retry count) of an operation.
SELECT status, lease_token, payload, retry_count FROM operations WHERE id = :id

-- finish --
-- Ends an operation or puts it back, and fences off whoever held it.
UPDATE operations SET status = :status, updated_at = :now,
    completed_at = CASE WHEN :status = 'pending' THEN NULL ELSE :now END,
    result = coalesce(:result, result), error = :error, next_retry_at = :next_retry_at,
    retry_count = retry_count + (:status = 'pending' AND :next_retry_at IS NOT NULL),
    payload = CASE WHEN :keep THEN payload END,
    lease_token = lease_token + 1, lease_holder = NULL, lease_until = NULL
WHERE id = :id

-- parent_of --
-- The parent of an operation and the parent's status.
SELECT p.id, p.status FROM operations o JOIN operations p ON p.id = o.parent_id WHERE o.id = :id

-- child_statuses --
-- (status, count) of the parts of an operation.
SELECT status, count(*) FROM operations WHERE parent_id = :id GROUP BY status

-- delete --
-- Deletes an operation that has ended, with its parts.
DELETE FROM operations WHERE id = :id AND status IN ('completed', 'failed', 'cancelled')

-- put_blob --
-- Keeps bytes.
INSERT INTO blobs (id, data) VALUES (:id, :data) ON CONFLICT (id) DO UPDATE SET data = excluded.data

-- delete_blobs --
-- Deletes the blobs whose ids are in a JSON array.
DELETE FROM blobs WHERE id IN (SELECT value FROM json_each(:ids))

-- stray_blobs --
-- Deletes blobs that no payload names.
DELETE FROM blobs WHERE id NOT IN (
    SELECT b.value FROM operations o, json_each(o.payload, '$.blobs') b WHERE o.payload IS NOT NULL
)
