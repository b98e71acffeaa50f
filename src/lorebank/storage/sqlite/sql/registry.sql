-- bank --
-- One bank.
SELECT bank_id, store_id, name, mission, disposition, config, created_at, updated_at FROM banks WHERE bank_id = :id

-- matching --
-- Banks whose id, name or an alias contains a text, by id.
SELECT bank_id, store_id, name, mission, disposition, config, created_at, updated_at FROM banks b
WHERE :text IS NULL OR contains(bank_id, :text) OR contains(name, :text)
OR EXISTS (SELECT 1 FROM aliases a WHERE a.bank_id = b.bank_id AND contains(a.alias, :text))
ORDER BY bank_id

-- all_banks --
-- Every bank, by id.
SELECT bank_id, store_id, name, mission, disposition, config, created_at, updated_at FROM banks ORDER BY bank_id

-- insert_bank --
-- Makes a bank known.
INSERT INTO banks (bank_id, store_id, name, mission, disposition, config, created_at, updated_at)
VALUES (:bank_id, :store_id, :name, :mission, :disposition, :config, :now, :now)

-- update_bank --
-- Replaces what can be changed of a bank.
UPDATE banks SET name = :name, mission = :mission, disposition = :disposition, config = :config, updated_at = :now
WHERE bank_id = :bank_id

-- delete_bank --
-- Deletes a bank; its aliases and marks go with it.
DELETE FROM banks WHERE bank_id = :id

-- settle --
-- Notes that a store is being made or removed.
INSERT INTO unsettled_stores (store_id, state) VALUES (:store_id, :state)

-- settled --
-- Notes that it is done.
DELETE FROM unsettled_stores WHERE store_id = :store_id

-- unsettled --
-- Stores whose making or removal did not come to its end.
SELECT store_id FROM unsettled_stores ORDER BY store_id

-- canonical --
-- The bank that an alias names.
SELECT bank_id FROM aliases WHERE alias = :alias

-- aliases --
-- (alias, primary) of a bank, by alias.
SELECT alias, is_primary FROM aliases WHERE bank_id = :id ORDER BY alias

-- put_alias --
-- Adds an alias or changes whether it is the primary one.
INSERT INTO aliases (alias, bank_id, is_primary) VALUES (:alias, :bank_id, :is_primary)
ON CONFLICT (alias) DO UPDATE SET is_primary = excluded.is_primary

-- unset_primary --
-- Leaves a bank without a primary alias.
UPDATE aliases SET is_primary = 0 WHERE bank_id = :id

-- delete_alias --
-- Removes an alias of a bank.
DELETE FROM aliases WHERE alias = :alias AND bank_id = :id

-- directory --
-- (uuid, access epoch).
SELECT uuid, epoch FROM directory

-- mark --
-- Notes that a bank has work of a kind.
INSERT INTO work (bank_id, kind) VALUES (:bank_id, :kind) ON CONFLICT DO NOTHING

-- unmark --
-- Forgets that.
DELETE FROM work WHERE bank_id = :bank_id AND kind = :kind

-- marks --
-- (bank, kind) of all marks.
SELECT bank_id, kind FROM work ORDER BY bank_id, kind
