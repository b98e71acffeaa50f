-- The registry of knowledge: which stores there are and whose, what is granted, what the host reported.

CREATE TABLE identity (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    uuid TEXT NOT NULL,
    -- Session ids that are no UUIDs get theirs in this namespace; nobody outside can foretell them.
    namespace TEXT NOT NULL
);

CREATE TABLE stores (
    vault TEXT PRIMARY KEY,
    -- Relative to the knowledge folder; stores of earlier releases may be elsewhere.
    location TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('creating', 'ready')),
    last_name TEXT,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- own:<agent> or named:<name>. A store has at most one.
CREATE TABLE bindings (
    binding TEXT PRIMARY KEY,
    vault TEXT NOT NULL UNIQUE REFERENCES stores (vault)
) WITHOUT ROWID;

-- The journal of changes of the store map, which is a file: written before it, settled after it.
CREATE TABLE assignments (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    operation TEXT NOT NULL,
    sha_before TEXT NOT NULL,
    sha_after TEXT NOT NULL,
    bindings TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('planned', 'done', 'cancelled')),
    changed_at INTEGER NOT NULL,
    changed_by TEXT NOT NULL
);
CREATE UNIQUE INDEX one_open_assignment ON assignments (state) WHERE state = 'planned';

CREATE TABLE grants (
    agent TEXT NOT NULL,
    session_key TEXT NOT NULL,
    access TEXT NOT NULL CHECK (access IN ('read', 'read-and-save')),
    granted_by TEXT NOT NULL,
    granted_at INTEGER NOT NULL,
    PRIMARY KEY (agent, session_key)
) WITHOUT ROWID;

CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE
) WITHOUT ROWID;

-- What the host said last. Agents of earlier reports stay, not present: they have lost access.
CREATE TABLE host_reports (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    reported_at INTEGER NOT NULL
);

CREATE TABLE host_agents (
    agent TEXT PRIMARY KEY,
    present INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE conversations (
    agent TEXT NOT NULL,
    session_key TEXT NOT NULL,
    kind TEXT NOT NULL,
    label TEXT,
    reported_at INTEGER NOT NULL,
    PRIMARY KEY (agent, session_key)
) WITHOUT ROWID;

CREATE TABLE ended_invocations (
    invocation TEXT PRIMARY KEY,
    until INTEGER NOT NULL
) WITHOUT ROWID;

-- Small values in JSON: the schedule's state and last results.
CREATE TABLE kept_values (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- Requests for an agent's review, each to be taken and answered once.
CREATE TABLE reviews (
    id TEXT PRIMARY KEY,
    job_id TEXT NOT NULL,
    claims_left INTEGER NOT NULL,
    requested_at INTEGER NOT NULL,
    taken_at INTEGER,
    outcome TEXT CHECK (outcome IN ('enqueued', 'not_needed', 'skipped', 'unavailable', 'failed')),
    answered_at INTEGER
) WITHOUT ROWID;
