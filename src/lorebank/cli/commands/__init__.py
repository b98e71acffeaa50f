"""One module for each group of commands; a module is imported only when its command runs."""
