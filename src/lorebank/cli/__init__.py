"""The command line: a client of the HTTP API that a person or a script can use."""
