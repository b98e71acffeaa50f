-- identity --
-- (uuid, namespace of sessions).
SELECT uuid, namespace FROM identity

-- insert_identity --
-- Written once, with the schema.
INSERT INTO identity (id, uuid, namespace) VALUES (1, :uuid, :namespace)

-- stores --
-- Every physical store, the oldest first.
SELECT vault, location, state, last_name, created_at FROM stores ORDER BY created_at, vault

-- store_of --
-- The store behind a binding.
SELECT s.vault, s.location, s.state, s.last_name, s.created_at
FROM bindings b JOIN stores s ON s.vault = b.vault WHERE b.binding = :binding

-- insert_store --
-- Makes a store known.
INSERT INTO stores (vault, location, state, last_name, created_at)
VALUES (:vault, :location, :state, :last_name, :created_at)

-- store_ready --
-- Its making was completed.
UPDATE stores SET state = 'ready' WHERE vault = :vault

-- name_store --
-- The name it has now, kept when the name goes.
UPDATE stores SET last_name = :name WHERE vault = :vault

-- bindings --
-- (binding, vault) of all.
SELECT binding, vault FROM bindings ORDER BY binding

-- bind --
-- Binds a store; fails when either is taken.
INSERT INTO bindings (binding, vault) VALUES (:binding, :vault)

-- unbind --
-- Leaves a binding without a store.
DELETE FROM bindings WHERE binding = :binding

-- insert_assignment --
-- A planned change; fails while another one is planned.
INSERT INTO assignments (id, operation, sha_before, sha_after, bindings, state, changed_at, changed_by)
VALUES (:id, :operation, :before, :after, :bindings, 'planned', :at, :by)

-- settle_assignment --
-- Ends it.
UPDATE assignments SET state = :state WHERE id = :id AND state = 'planned'

-- open_assignment --
-- The planned one.
SELECT id, operation, sha_before, sha_after, bindings, state, changed_at, changed_by
FROM assignments WHERE state = 'planned'

-- assignments --
-- The newest changes.
SELECT id, operation, sha_before, sha_after, bindings, state, changed_at, changed_by
FROM assignments ORDER BY seq DESC LIMIT :limit

-- grants --
-- Every grant, by agent and key.
SELECT agent, session_key, access, granted_by, granted_at FROM grants ORDER BY agent, session_key

-- set_grant --
-- Adds one or replaces that of the same conversation.
INSERT INTO grants (agent, session_key, access, granted_by, granted_at)
VALUES (:agent, :session_key, :access, :granted_by, :granted_at)
ON CONFLICT (agent, session_key) DO UPDATE
SET access = excluded.access, granted_by = excluded.granted_by, granted_at = excluded.granted_at

-- drop_grant --
-- Removes one.
DELETE FROM grants WHERE agent = :agent AND session_key = :session_key

-- stands_for_a_session --
-- Whether a UUID is what another session id was given.
SELECT 1 FROM sessions WHERE uuid = :uuid

-- add_session --
-- Notes the UUID of a session id.
INSERT INTO sessions (session_id, uuid) VALUES (:session_id, :uuid) ON CONFLICT DO NOTHING

-- reported --
-- Whether the host has ever reported.
SELECT reported_at FROM host_reports

-- note_report --
-- When it did so last.
INSERT INTO host_reports (id, reported_at) VALUES (1, :at)
ON CONFLICT (id) DO UPDATE SET reported_at = excluded.reported_at

-- host_agents --
-- (agent, present) of all that were ever reported.
SELECT agent, present FROM host_agents ORDER BY agent

-- forget_presence --
-- Nobody is present until named again.
UPDATE host_agents SET present = 0

-- add_host_agent --
-- This one is.
INSERT INTO host_agents (agent, present) VALUES (:agent, 1) ON CONFLICT (agent) DO UPDATE SET present = 1

-- forget_conversations --
-- Those of the report before.
DELETE FROM conversations

-- add_conversation --
-- One of the report.
INSERT INTO conversations (agent, session_key, kind, label, reported_at)
VALUES (:agent, :session_key, :kind, :label, :reported_at)

-- conversations --
-- An agent's, by key.
SELECT agent, session_key, kind, label, reported_at FROM conversations WHERE agent = :agent ORDER BY session_key

-- end_invocation --
-- A run is over; the later of two dates counts.
INSERT INTO ended_invocations (invocation, until) VALUES (:invocation, :until)
ON CONFLICT (invocation) DO UPDATE SET until = max(until, excluded.until)

-- forget_invocations --
-- Those whose tokens have expired anyway.
DELETE FROM ended_invocations WHERE until < :now

-- ended_invocations --
-- All that are remembered.
SELECT invocation FROM ended_invocations

-- value --
-- A small value.
SELECT value FROM kept_values WHERE name = :name

-- set_value --
-- Sets it.
INSERT INTO kept_values (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- add_review --
-- Once for each id.
INSERT INTO reviews (id, job_id, claims_left, requested_at, taken_at, outcome, answered_at)
VALUES (:id, :job_id, :claims_left, :requested_at, :taken_at, :outcome, :answered_at) ON CONFLICT DO NOTHING

-- reviews --
-- All, or those without an answer; the oldest first.
SELECT id, job_id, claims_left, requested_at, taken_at, outcome, answered_at FROM reviews
WHERE outcome IS NULL OR NOT :open_only ORDER BY requested_at, id

-- review --
-- One.
SELECT id, job_id, claims_left, requested_at, taken_at, outcome, answered_at FROM reviews WHERE id = :id

-- take_review --
-- The first time stays.
UPDATE reviews SET taken_at = :at WHERE id = :id AND taken_at IS NULL AND outcome IS NULL

-- answer_review --
-- The first answer stays.
UPDATE reviews SET outcome = :outcome, answered_at = :at WHERE id = :id AND outcome IS NULL
