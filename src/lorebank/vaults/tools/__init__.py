"""The knowledge tools that agents call: one module a tool, over an opened vault handle."""
