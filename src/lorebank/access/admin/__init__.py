"""How the access directory is changed: each rule once, under every route and command that changes it."""
