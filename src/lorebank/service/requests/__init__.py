"""What callers may send: one model for each request body and each set of query parameters.

The models are the only place where the wire's shapes, defaults and limits are checked. Handlers
read their attributes; code below `service` never sees them.
"""
