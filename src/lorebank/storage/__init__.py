"""Where rows live: ports that state the contract, values, and the SQLite engine that keeps them."""
