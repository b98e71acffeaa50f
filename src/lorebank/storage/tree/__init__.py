"""The file trees of vaults: safe access below one folder, scans, atomic writes, git."""
