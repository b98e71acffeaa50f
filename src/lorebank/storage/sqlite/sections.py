"""The names of the statements in `sql/`: each class has one field for each section of its file."""

from __future__ import annotations

from lorebank.storage.sqlite.queries import Sections


class MemorySql(Sections):
    """sql/memories.sql"""

    page: str
    total: str
    by_key: str
    by_id: str
    history: str
    same_facts: str
    entity_names: str
    hidden_documents: str
    source_ids: str
    next_position: str
    tag_sets: str
    all_tags: str
    time_buckets: str


class DocumentSql(Sections):
    """sql/documents.sql"""

    page: str
    total: str
    matching_text: str
    by_id: str
    events: str
    events_total: str
    fact_types: str
    chunks: str
    chunks_total: str
    chunks_by_id: str


class EntitySql(Sections):
    """sql/entities.sql"""

    page: str
    total: str
    filtered_page: str
    filtered_total: str
    by_id: str
    filtered_by_id: str
    memories: str
    names: str
    of_memories: str
    named: str
    pairs: str
    numbers_of: str


class OperationSql(Sections):
    """sql/operations.sql"""

    by_id: str
    page: str
    total: str
    children: str
    blob: str
    runnable_at: str
    put: str
    candidate: str
    take: str
    renew: str
    progress: str
    holder: str
    finish: str
    parent_of: str
    child_statuses: str
    delete: str
    put_blob: str
    delete_blobs: str
    stray_blobs: str


class DerivedSql(Sections):
    """sql/derived.sql"""

    meta: str
    index_rows: str
    deleted_keys: str
    all_vectors: str
    new_vectors: str
    missing_vectors: str
    missing_count: str
    vector_models: str
    last_model: str
    vector_epoch: str
    links: str
    links_between: str
    count_memories: str
    count_documents: str
    count_entities: str
    count_entities_seen: str
    count_links: str
    count_links_seen: str
    count_operations: str
    last_memory: str
    last_document: str


class WriteSql(Sections):
    """sql/write.sql"""

    next_key: str
    insert_memory: str
    insert_source: str
    sources_of: str
    add_proof: str
    entity_keys: str
    insert_entity: str
    mention_entity: str
    insert_mention: str
    set_entity_keys: str
    drop_mentions: str
    unmention_entity: str
    delete_unnamed: str
    mentions_of: str
    full_row: str
    insert_version: str
    next_in_thread: str
    stale_vectors: str
    insert_observation_source: str
    observations_on: str
    recount_observations: str
    baseless_observations: str
    drop_memory_vectors: str
    drop_semantic_links: str
    visible_keys: str
    visible_by_type: str
    delete_memories: str
    bury: str
    put_document: str
    document_hidden: str
    put_chunk: str
    visible_chunks: str
    delete_chunks: str
    chunk_sources: str
    document_sources: str
    delete_source: str
    settle_sources: str
    delete_document: str
    retag_document: str
    retag_memory: str
    insert_event: str
    set_meta: str
    delete_meta: str
    set_seq: str
    insert_model: str
    model_key: str
    put_vector: str
    drop_vectors: str
    drop_all_vectors: str
    raise_vector_epoch: str
    put_link: str
    drop_links: str
    put_derived: str


class RegistrySql(Sections):
    """sql/registry.sql"""

    bank: str
    matching: str
    all_banks: str
    insert_bank: str
    update_bank: str
    delete_bank: str
    settle: str
    settled: str
    unsettled: str
    canonical: str
    aliases: str
    put_alias: str
    unset_primary: str
    delete_alias: str
    directory: str
    mark: str
    unmark: str
    marks: str


class ArchiveSql(Sections):
    """sql/archive.sql"""

    page: str
    sources: str
    entity_ids: str
    history: str
    insert_entity: str
    entities_by_id: str
    memory_keys: str
    insert_memory: str
    insert_version: str


class AccessSql(Sections):
    """sql/access.sql"""

    users: str
    channels: str
    groups: str
    members: str
    policies: str
    attachments: str
    service_accounts: str
    keys: str
    bank_policies: str
    epoch: str
    raise_epoch: str
    insert_user: str
    put_user: str
    delete_user: str
    insert_channel: str
    delete_channel: str
    insert_group: str
    put_group: str
    delete_group: str
    put_member: str
    delete_member: str
    insert_policy: str
    put_policy: str
    delete_policy: str
    policy_exists: str
    policy_users: str
    principal_exists: str
    put_attachment: str
    delete_attachment: str
    insert_account: str
    put_account: str
    delete_account: str
    insert_key: str
    delete_key: str
    put_bank_policy: str
    delete_bank_policy: str
    meta: str
    set_meta: str


class AuditSql(Sections):
    """sql/audit.sql"""

    log: str
    head: str
    create: str
    append: str
    page: str
    total: str
    buckets: str
    walk: str
    count: str
    last_before: str
    hash_at: str
    raise_anchor: str
    drop_rows: str
    claim: str
    claimed: str
    forget_tokens: str
    key_uses: str
    note_use: str
    forget_use: str


class KnowledgeSql(Sections):
    """sql/knowledge.sql"""

    identity: str
    insert_identity: str
    stores: str
    store_of: str
    insert_store: str
    store_ready: str
    name_store: str
    bindings: str
    bind: str
    unbind: str
    insert_assignment: str
    settle_assignment: str
    open_assignment: str
    assignments: str
    grants: str
    set_grant: str
    drop_grant: str
    stands_for_a_session: str
    add_session: str
    reported: str
    note_report: str
    host_agents: str
    forget_presence: str
    add_host_agent: str
    forget_conversations: str
    add_conversation: str
    conversations: str
    end_invocation: str
    forget_invocations: str
    ended_invocations: str
    value: str
    set_value: str
    add_review: str
    reviews: str
    review: str
    take_review: str
    answer_review: str
