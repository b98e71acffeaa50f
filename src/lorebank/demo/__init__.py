"""A small conversation written for lorebank, and questions about it: what `lorebank demo` loads."""
