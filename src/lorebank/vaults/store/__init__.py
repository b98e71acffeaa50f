"""The runtime of one physical store: manifest, catalogue, checks around every query."""
