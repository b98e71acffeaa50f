"""Vaults: knowledge stores of Markdown records with evidence, in partitions, with local git history."""
