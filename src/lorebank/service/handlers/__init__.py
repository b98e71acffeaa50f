"""One module a resource: thin functions from a `Call` to a JSON-ready answer."""
