"""The one table of operations and the gate before it; transports bind to it."""
