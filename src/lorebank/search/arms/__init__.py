"""The four ways to find a passage. Every arm sees visible slots only."""
