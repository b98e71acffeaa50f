-- One bank. Times are microseconds UTC; tags, metadata and the like are JSON text; `seq` is the
-- number of the write transaction that last changed a row in a way that search must see.

CREATE TABLE store (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    uuid TEXT NOT NULL,
    seq INTEGER NOT NULL,
    -- Rises when vectors are dropped, so that what was complete is known to be incomplete.
    vector_epoch INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE documents (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    text_length INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    metadata TEXT NOT NULL,
    retain_params TEXT NOT NULL,
    tags TEXT NOT NULL,
    observation_scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    text TEXT
);
CREATE INDEX documents_by_update ON documents (updated_at, id);
CREATE INDEX documents_by_creation ON documents (created_at);
CREATE INDEX documents_by_tags ON documents (tags);

CREATE TABLE chunks (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    chunk_index INTEGER NOT NULL,
    hash TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX chunks_by_document ON chunks (document_id, chunk_index, id);

CREATE TABLE document_events (
    key INTEGER PRIMARY KEY,
    document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    operation_id TEXT,
    fact_id TEXT,
    facts_added INTEGER NOT NULL,
    facts_removed INTEGER NOT NULL
);
CREATE INDEX document_events_by_document ON document_events (document_id, at);

-- AUTOINCREMENT: a key is never used twice, because the search index knows memories by key only.
CREATE TABLE memories (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    seq INTEGER NOT NULL,
    -- The seq at which what is embedded (the text, and the text before it in the thread) last
    -- changed; a vector that was made from an older state is stale.
    text_seq INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    fact_type TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('valid', 'invalidated')),
    tokens INTEGER NOT NULL,
    occurred_start INTEGER,
    occurred_end INTEGER,
    precision TEXT,
    mentioned_at INTEGER,
    -- The first source that is left; the others are in memory_sources.
    document_id TEXT,
    chunk_id TEXT,
    metadata TEXT NOT NULL,
    tags TEXT NOT NULL,
    thread TEXT,
    position INTEGER NOT NULL,
    speaker TEXT,
    -- Whether it ends in a question.
    asks INTEGER NOT NULL,
    proof_count INTEGER NOT NULL CHECK (proof_count > 0),
    -- The keys of its entities joined by commas: the index feed reads them without a join.
    entity_keys TEXT NOT NULL DEFAULT '',
    invalidation_reason TEXT,
    invalidated_at INTEGER,
    edited_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- Digest of what makes two facts the same fact.
    dedup TEXT NOT NULL,
    context TEXT NOT NULL,
    text TEXT NOT NULL,
    terms TEXT NOT NULL
);
CREATE INDEX memories_by_seq ON memories (seq);
CREATE INDEX memories_by_text_seq ON memories (text_seq);
CREATE INDEX memories_by_creation ON memories (created_at);
CREATE INDEX memories_by_state ON memories (state, created_at);
CREATE INDEX memories_by_type ON memories (state, fact_type, created_at);
CREATE INDEX memories_by_tags ON memories (tags, state, fact_type);
CREATE INDEX memories_by_update ON memories (updated_at);
CREATE INDEX memories_by_thread ON memories (thread, position) WHERE thread IS NOT NULL;
CREATE INDEX memories_by_dedup ON memories (dedup);

CREATE TABLE memory_sources (
    memory_key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    document_id TEXT,
    chunk_id TEXT,
    PRIMARY KEY (memory_key, ordinal)
) WITHOUT ROWID;
CREATE INDEX memory_sources_by_document ON memory_sources (document_id) WHERE document_id IS NOT NULL;
CREATE INDEX memory_sources_by_chunk ON memory_sources (chunk_id) WHERE chunk_id IS NOT NULL;

-- The memories that an observation rests on; it goes when the last of them goes.
CREATE TABLE observation_sources (
    memory_key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    source_key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    PRIMARY KEY (memory_key, source_key)
) WITHOUT ROWID;
CREATE INDEX observation_sources_by_source ON observation_sources (source_key);

CREATE TABLE memory_history (
    key INTEGER PRIMARY KEY,
    memory_key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    change TEXT NOT NULL,
    before TEXT NOT NULL
);
CREATE INDEX memory_history_by_memory ON memory_history (memory_key);

-- Keys of deleted memories, kept until the search index has surely seen them.
CREATE TABLE tombstones (
    key INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL
);
CREATE INDEX tombstones_by_seq ON tombstones (seq);

-- The mention numbers are those of all valid memories, whoever asks.
CREATE TABLE entities (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    mention_count INTEGER NOT NULL,
    first_seen INTEGER,
    last_seen INTEGER
);
CREATE INDEX entities_by_mentions ON entities (mention_count);

CREATE TABLE memory_entities (
    memory_key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    entity_key INTEGER NOT NULL REFERENCES entities (key) ON DELETE CASCADE,
    valid INTEGER NOT NULL,
    -- When the memory was mentioned or, without a time, written.
    seen INTEGER NOT NULL,
    PRIMARY KEY (memory_key, position)
) WITHOUT ROWID;
CREATE INDEX memory_entities_by_entity ON memory_entities (entity_key, valid, seen);

CREATE TABLE links (
    source INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    type TEXT NOT NULL,
    weight REAL NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (source, target, type)
) WITHOUT ROWID;
CREATE INDEX links_by_target ON links (target);
CREATE INDEX links_by_seq ON links (seq);
CREATE INDEX links_by_type ON links (type);

CREATE TABLE vector_models (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
);

CREATE TABLE vectors (
    key INTEGER PRIMARY KEY,
    model_key INTEGER NOT NULL REFERENCES vector_models (key) ON DELETE CASCADE,
    memory_key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE UNIQUE INDEX vectors_by_memory ON vectors (memory_key, model_key);
CREATE INDEX vectors_by_seq ON vectors (model_key, seq);

CREATE TABLE operations (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'cancelled')),
    items_count INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    completed_at INTEGER,
    document_id TEXT,
    filename TEXT,
    parent_id TEXT REFERENCES operations (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    error TEXT,
    retry_count INTEGER NOT NULL,
    next_retry_at INTEGER,
    stage TEXT,
    processed INTEGER,
    total INTEGER,
    result TEXT,
    principal TEXT,
    -- The lease: who may work on it. The token only ever rises.
    lease_token INTEGER NOT NULL DEFAULT 0,
    lease_holder TEXT,
    lease_until INTEGER,
    payload TEXT
);
CREATE INDEX operations_by_creation ON operations (created_at);
CREATE INDEX operations_by_status ON operations (status, created_at);
CREATE INDEX operations_by_parent ON operations (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE blobs (
    id TEXT PRIMARY KEY,
    data BLOB NOT NULL
);
