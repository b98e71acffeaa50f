"""Which method and path runs which operation: one file a resource."""
