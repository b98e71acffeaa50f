-- folders --
-- The partitions of a store, with what identifies their folders.
SELECT folder, inode FROM partitions

-- forget_folders --
-- In a copy: the numbers of the original's folders mean nothing.
UPDATE partitions SET device = :inode, inode = :inode

-- note_folder --
UPDATE partitions SET device = :device, inode = :inode WHERE folder = :folder

-- places --
-- Every store of a registry, with its place.
SELECT vault, location, state FROM stores ORDER BY vault

-- move_store --
UPDATE stores SET location = :location WHERE vault = :vault
