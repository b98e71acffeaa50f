-- The audit log of a data directory, and what is noted of credentials as they are used.

CREATE TABLE log (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    uuid TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- The newest row that was removed because of its age: the chain goes on from its hash.
    anchor_seq INTEGER NOT NULL,
    anchor_hash TEXT NOT NULL
);

-- `event` is the canonical JSON that is hashed; the other columns repeat what is looked for.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    principal TEXT NOT NULL,
    action TEXT NOT NULL,
    outcome TEXT NOT NULL,
    transport TEXT NOT NULL,
    bank TEXT,
    request_id TEXT NOT NULL,
    event TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX events_by_time ON events (at);
CREATE INDEX events_by_bank ON events (bank, seq) WHERE bank IS NOT NULL;
CREATE INDEX events_by_principal ON events (principal, seq);

CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events BEGIN
    SELECT RAISE(ABORT, 'an audit row is never changed');
END;

CREATE TRIGGER events_only_grow BEFORE INSERT ON events
WHEN NEW.seq <> 1 + max(
    coalesce((SELECT max(seq) FROM events), 0), (SELECT anchor_seq FROM log)
) BEGIN
    SELECT RAISE(ABORT, 'an audit row comes after all others');
END;

CREATE TRIGGER events_go_by_age_only BEFORE DELETE ON events
WHEN OLD.seq > (SELECT anchor_seq FROM log) BEGIN
    SELECT RAISE(ABORT, 'an audit row is only removed below the anchor');
END;

CREATE TRIGGER anchor_only_rises BEFORE UPDATE ON log
WHEN NEW.uuid <> OLD.uuid OR NEW.anchor_seq < OLD.anchor_seq
OR NOT EXISTS (SELECT 1 FROM events WHERE seq = NEW.anchor_seq AND hash = NEW.anchor_hash) BEGIN
    SELECT RAISE(ABORT, 'the anchor moves to a stored row only');
END;

CREATE TRIGGER log_is_never_deleted BEFORE DELETE ON log BEGIN
    SELECT RAISE(ABORT, 'the audit log is never deleted');
END;

-- Ids of gateway tokens that were used, until they expire.
CREATE TABLE token_ids (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX token_ids_by_expiry ON token_ids (expires_at);

-- When each API key was last used, as far as it was written down.
CREATE TABLE key_uses (
    key_id TEXT PRIMARY KEY,
    used_at INTEGER NOT NULL
) WITHOUT ROWID;
