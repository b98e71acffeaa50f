"""The HTTP binding of the operations table. It knows no storage and no banks."""
