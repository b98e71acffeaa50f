"""Reading the vaults of other programs, and of lorebank's own lost registries, into new stores."""
