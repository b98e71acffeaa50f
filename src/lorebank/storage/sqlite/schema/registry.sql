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

-- Banks with background work that must be looked for after a restart.
CREATE TABLE work (
    bank_id TEXT NOT NULL REFERENCES banks (bank_id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    PRIMARY KEY (bank_id, kind)
) WITHOUT ROWID;

-- Who may do what.

CREATE TABLE access_meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE users (
    id TEXT PRIMARY KEY,
    display_name TEXT NOT NULL,
    email TEXT UNIQUE,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);

CREATE TABLE user_channels (
    provider TEXT NOT NULL,
    sender_id TEXT NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (provider, sender_id)
) WITHOUT ROWID;
CREATE INDEX user_channels_by_user ON user_channels (user_id);

CREATE TABLE groups (
    id TEXT PRIMARY KEY,
    display_name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);

CREATE TABLE group_members (
    group_id TEXT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (group_id, user_id)
) WITHOUT ROWID;
CREATE INDEX group_members_by_user ON group_members (user_id, group_id);

-- Documents as they were sent. The built-in policies are not here: they follow the version that runs.
CREATE TABLE policies (
    id TEXT PRIMARY KEY,
    display_name TEXT NOT NULL,
    document TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);

CREATE TABLE service_accounts (
    id TEXT PRIMARY KEY,
    owner_user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    display_name TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    scoping_policy_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE INDEX service_accounts_by_owner ON service_accounts (owner_user_id);
CREATE INDEX service_accounts_by_scope ON service_accounts (scoping_policy_id);

CREATE TABLE policy_attachments (
    policy_id TEXT NOT NULL,
    principal_type TEXT NOT NULL CHECK (principal_type IN ('user', 'group', 'service_account')),
    principal_id TEXT NOT NULL,
    priority INTEGER NOT NULL,
    PRIMARY KEY (principal_type, principal_id, policy_id)
) WITHOUT ROWID;
CREATE INDEX policy_attachments_by_policy ON policy_attachments (policy_id);

CREATE TABLE bank_policies (
    bank_id TEXT PRIMARY KEY,
    document TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);

-- Only digests: the secret itself is never stored.
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('user', 'service_account')),
    owner_id TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    shown TEXT NOT NULL,
    description TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
);
CREATE INDEX api_keys_by_owner ON api_keys (kind, owner_id);

-- Whatever names a principal without a foreign key goes with it: a new one of the same id inherits nothing.
CREATE TRIGGER user_leaves_nothing AFTER DELETE ON users BEGIN
    DELETE FROM policy_attachments WHERE principal_type = 'user' AND principal_id = OLD.id;
    DELETE FROM api_keys WHERE kind = 'user' AND owner_id = OLD.id;
END;

CREATE TRIGGER group_leaves_nothing AFTER DELETE ON groups BEGIN
    DELETE FROM policy_attachments WHERE principal_type = 'group' AND principal_id = OLD.id;
END;

CREATE TRIGGER service_account_leaves_nothing AFTER DELETE ON service_accounts BEGIN
    DELETE FROM policy_attachments WHERE principal_type = 'service_account' AND principal_id = OLD.id;
    DELETE FROM api_keys WHERE kind = 'service_account' AND owner_id = OLD.id;
END;
