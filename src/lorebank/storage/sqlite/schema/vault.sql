-- One knowledge store: what lorebank knows of the files in its vault, and what it is doing to them.

-- What vault.json must show; it changes in the transaction that makes a publication count.
CREATE TABLE checkpoint (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    vault TEXT NOT NULL,
    generation INTEGER NOT NULL CHECK (generation >= 0),
    publication_id TEXT NOT NULL,
    created_at INTEGER NOT NULL
);

-- The identity of a partition's folder is noted once and compared at each use.
CREATE TABLE partitions (
    folder TEXT PRIMARY KEY,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL
) WITHOUT ROWID;

-- One row for each file; keys are never used again.
CREATE TABLE catalogue (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    folder TEXT NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    revision INTEGER NOT NULL,
    record TEXT,
    findings TEXT NOT NULL
);
CREATE UNIQUE INDEX catalogue_path ON catalogue (folder, path);

-- Accepted publications and their receipts. A request id is known in its partition only.
CREATE TABLE journal (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    request_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    folder TEXT NOT NULL,
    agent TEXT,
    change TEXT NOT NULL,
    files BLOB NOT NULL,
    records TEXT NOT NULL,
    answer TEXT NOT NULL,
    message TEXT NOT NULL,
    generation INTEGER NOT NULL,
    publication_id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('accepted', 'published', 'conflicted')),
    accepted_at INTEGER NOT NULL,
    published_at INTEGER,
    git_commit TEXT
);
CREATE UNIQUE INDEX journal_request ON journal (folder, request_id);
-- At most one publication is open in a store.
CREATE UNIQUE INDEX journal_open ON journal (state <> 'published') WHERE state <> 'published';
CREATE INDEX journal_unfinished ON journal (number) WHERE state = 'published' AND git_commit IS NULL;

-- Every revision of every record, and what people did to other files (record_id is NULL).
CREATE TABLE history (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    folder TEXT NOT NULL,
    record_id TEXT,
    revision INTEGER,
    path TEXT NOT NULL,
    title TEXT NOT NULL,
    change TEXT NOT NULL,
    agent TEXT,
    at INTEGER NOT NULL,
    sha256 TEXT,
    git_blob TEXT,
    git_commit TEXT,
    request_id TEXT,
    message TEXT NOT NULL,
    old_path TEXT
);
CREATE INDEX history_record ON history (folder, record_id, seq);
CREATE INDEX history_recent ON history (folder, seq);
CREATE INDEX history_uncommitted ON history (seq) WHERE git_commit IS NULL;

-- What people wrote and git does not have yet.
CREATE TABLE kept (
    sha256 TEXT PRIMARY KEY,
    content BLOB NOT NULL
);

-- Verdicts of evidence checks, good while the stamp is the same.
CREATE TABLE verdicts (
    key TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    verdict TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE vectors (
    key INTEGER PRIMARY KEY REFERENCES catalogue (key) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
);
