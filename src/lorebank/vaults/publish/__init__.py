"""Publishing: journal, files, receipt, git commit; recovery; history."""
