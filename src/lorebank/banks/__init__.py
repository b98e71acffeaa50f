"""Banks: memories, documents and entities of one agent or team, and the operations on them."""
