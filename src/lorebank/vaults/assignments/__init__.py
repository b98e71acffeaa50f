"""Who has which store: the store map, sharing, inventory, the host's report."""
