"""The policy engine: documents, matching, merging and explaining. Pure: nothing here reads or writes."""
