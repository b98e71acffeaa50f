-- The registry of a data directory: which banks there are, who may come in, what work waits.

CREATE TABLE directory (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    uuid TEXT NOT NULL,
    -- The access epoch: raised in the transaction of every change of users, keys or rules.
    epoch INTEGER NOT NULL
);

CREATE TABLE banks (
    bank_id TEXT PRIMARY KEY,
    store_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    mission TEXT NOT NULL,
    disposition TEXT NOT NULL,
    config TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Stores that are being made or removed; at the next start both end as no store.
CREATE TABLE unsettled_stores (
    store_id TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('creating', 'deleting'))
) WITHOUT ROWID;

CREATE TABLE aliases (
    alias TEXT PRIMARY KEY,
    bank_id TEXT NOT NULL REFERENCES banks (bank_id) ON DELETE CASCADE,
    is_primary INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX aliases_by_bank ON aliases (bank_id, alias);

-- Only digests: the secret itself is never stored.
CREATE TABLE api_keys (
    digest TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    root INTEGER NOT NULL
) WITHOUT ROWID;

-- Banks with background work that must be looked for after a restart.
CREATE TABLE work (
    bank_id TEXT NOT NULL REFERENCES banks (bank_id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    PRIMARY KEY (bank_id, kind)
) WITHOUT ROWID;
