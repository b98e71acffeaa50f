"""The SQLite engine: one registry and one store file a bank, in one data directory."""
