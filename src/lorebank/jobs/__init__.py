"""Background work: operations that wait in banks, run by a few threads, handlers known by name only."""
