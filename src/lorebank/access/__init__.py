"""Who may do what: credentials become a `Principal`, and only `resolve` makes a `Grant`."""
