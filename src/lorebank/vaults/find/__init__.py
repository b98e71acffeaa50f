"""Finding records: search, exact look-up, dates, the index and recent list for prompts."""
