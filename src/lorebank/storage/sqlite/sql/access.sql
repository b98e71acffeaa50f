-- users --
-- Every user by id.
SELECT id, display_name, email, is_active FROM users ORDER BY id

-- channels --
-- Every channel.
SELECT provider, sender_id, user_id FROM user_channels ORDER BY provider, sender_id

-- groups --
-- Every group by id.
SELECT id, display_name FROM groups ORDER BY id

-- members --
-- (user, group) of every membership.
SELECT user_id, group_id FROM group_members ORDER BY user_id, group_id

-- policies --
-- Every stored policy by id.
SELECT id, display_name, document FROM policies ORDER BY id

-- attachments --
-- Every attachment, those of one principal by policy.
SELECT policy_id, principal_type, principal_id, priority FROM policy_attachments
ORDER BY principal_type, principal_id, policy_id

-- service_accounts --
-- Every service account by id.
SELECT id, owner_user_id, display_name, is_active, scoping_policy_id FROM service_accounts ORDER BY id

-- keys --
-- Every key by id.
SELECT id, kind, owner_id, digest, shown, description, created_at, expires_at FROM api_keys ORDER BY id

-- bank_policies --
-- Every bank policy by bank.
SELECT bank_id, document FROM bank_policies ORDER BY bank_id

-- epoch --
-- The access epoch.
SELECT epoch FROM directory

-- raise_epoch --
-- Raises the access epoch.
UPDATE directory SET epoch = epoch + 1

-- insert_user --
-- Adds a user.
INSERT INTO users (id, display_name, email, is_active, created_at, updated_at)
VALUES (:id, :display_name, :email, :is_active, :now, :now)

-- put_user --
-- Adds or replaces a user.
INSERT INTO users (id, display_name, email, is_active, created_at, updated_at)
VALUES (:id, :display_name, :email, :is_active, :now, :now)
ON CONFLICT (id) DO UPDATE SET display_name = excluded.display_name, email = excluded.email,
    is_active = excluded.is_active, updated_at = excluded.updated_at

-- delete_user --
-- Deletes a user with all that is his.
DELETE FROM users WHERE id = :id

-- insert_channel --
-- Maps a sender to a user.
INSERT INTO user_channels (provider, sender_id, user_id) VALUES (:provider, :sender_id, :user_id)

-- delete_channel --
-- Removes a mapping of a user.
DELETE FROM user_channels WHERE provider = :provider AND sender_id = :sender_id AND user_id = :user_id

-- insert_group --
-- Adds a group.
INSERT INTO groups (id, display_name, created_at, updated_at) VALUES (:id, :display_name, :now, :now)

-- put_group --
-- Adds or replaces a group.
INSERT INTO groups (id, display_name, created_at, updated_at) VALUES (:id, :display_name, :now, :now)
ON CONFLICT (id) DO UPDATE SET display_name = excluded.display_name, updated_at = excluded.updated_at

-- delete_group --
-- Deletes a group with its memberships and attachments.
DELETE FROM groups WHERE id = :id

-- put_member --
-- Makes a user a member.
INSERT INTO group_members (group_id, user_id) VALUES (:group_id, :user_id) ON CONFLICT DO NOTHING

-- delete_member --
-- Removes a membership.
DELETE FROM group_members WHERE group_id = :group_id AND user_id = :user_id

-- insert_policy --
-- Adds a policy.
INSERT INTO policies (id, display_name, document, created_at, updated_at)
VALUES (:id, :display_name, :text, :now, :now)

-- put_policy --
-- Adds or replaces a policy.
INSERT INTO policies (id, display_name, document, created_at, updated_at)
VALUES (:id, :display_name, :text, :now, :now)
ON CONFLICT (id) DO UPDATE SET display_name = excluded.display_name, document = excluded.document,
    updated_at = excluded.updated_at

-- delete_policy --
-- Deletes a policy.
DELETE FROM policies WHERE id = :id

-- policy_exists --
-- Whether a policy is stored.
SELECT 1 FROM policies WHERE id = :id

-- policy_users --
-- (attachments, scoped accounts) of a policy.
SELECT (SELECT count(*) FROM policy_attachments WHERE policy_id = :id),
    (SELECT count(*) FROM service_accounts WHERE scoping_policy_id = :id)

-- principal_exists --
-- Whether a principal of a type is stored.
SELECT 1 WHERE CASE :type
    WHEN 'user' THEN EXISTS (SELECT 1 FROM users WHERE id = :id)
    WHEN 'group' THEN EXISTS (SELECT 1 FROM groups WHERE id = :id)
    ELSE EXISTS (SELECT 1 FROM service_accounts WHERE id = :id) END

-- put_attachment --
-- Attaches a policy, or changes the priority.
INSERT INTO policy_attachments (policy_id, principal_type, principal_id, priority)
VALUES (:policy_id, :principal_type, :principal_id, :priority)
ON CONFLICT (principal_type, principal_id, policy_id) DO UPDATE SET priority = excluded.priority

-- delete_attachment --
-- Detaches a policy.
DELETE FROM policy_attachments
WHERE policy_id = :policy_id AND principal_type = :principal_type AND principal_id = :principal_id

-- insert_account --
-- Adds a service account.
INSERT INTO service_accounts (
    id, owner_user_id, display_name, is_active, scoping_policy_id, created_at, updated_at
) VALUES (:id, :owner_user_id, :display_name, :is_active, :scoping_policy_id, :now, :now)

-- put_account --
-- Adds a service account, or replaces all but its owner.
INSERT INTO service_accounts (
    id, owner_user_id, display_name, is_active, scoping_policy_id, created_at, updated_at
) VALUES (:id, :owner_user_id, :display_name, :is_active, :scoping_policy_id, :now, :now)
ON CONFLICT (id) DO UPDATE SET display_name = excluded.display_name, is_active = excluded.is_active,
    scoping_policy_id = excluded.scoping_policy_id, updated_at = excluded.updated_at

-- delete_account --
-- Deletes a service account with its keys and attachments.
DELETE FROM service_accounts WHERE id = :id

-- insert_key --
-- Stores a key.
INSERT INTO api_keys (id, kind, owner_id, digest, shown, description, created_at, expires_at)
VALUES (:id, :kind, :owner_id, :digest, :shown, :description, :created_at, :expires_at)

-- delete_key --
-- Revokes a key of an owner.
DELETE FROM api_keys WHERE id = :id AND kind = :kind AND owner_id = :owner_id

-- put_bank_policy --
-- Adds or replaces a bank's policy.
INSERT INTO bank_policies (bank_id, document, created_at, updated_at) VALUES (:bank_id, :text, :now, :now)
ON CONFLICT (bank_id) DO UPDATE SET document = excluded.document, updated_at = excluded.updated_at

-- delete_bank_policy --
-- Removes a bank's policy.
DELETE FROM bank_policies WHERE bank_id = :bank_id

-- meta --
-- A small value.
SELECT value FROM access_meta WHERE name = :name

-- set_meta --
-- Stores a small value.
INSERT INTO access_meta (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
