"""The scheduled pass over all stores, and the hand-over to an agent's review."""
