"""`python -m lorebank`."""

from __future__ import annotations

from lorebank.bootstrap import main

if __name__ == "__main__":
    main()
