"""Recall: a question to a bank, answered with its most fitting memories and the reasons."""
