"""Two hosts that name the runs of their agents alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lorebank.errors import Forbidden, InvalidInput
from lorebank.vaults.assignments.host import Host
from vault_store.store_world import owner, world


def test_a_host_ends_its_own_run_only(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        mine, theirs, nobodys = (replace(owner(), host=name) for name in ("h\u00e9", "other", None))
        Host(stores.registry).end_invocation("run", "he\u0301")
        with pytest.raises(Forbidden, match="ended"):
            stores.grant(mine)
        assert stores.grant(theirs) and stores.grant(nobodys)
        assert stores.grant(replace(mine, invocation="another"))
        Host(stores.registry).end_invocation("run")
        for one in (mine, theirs, nobodys):
            with pytest.raises(Forbidden, match="ended"):
                stores.grant(one)


@pytest.mark.parametrize("host", ["", " ", "a\x1fb", "h" * 513])
def test_the_name_of_a_host_is_checked(tmp_path: Path, host: str) -> None:
    with world(tmp_path) as stores, pytest.raises(InvalidInput, match="host"):
        Host(stores.registry).end_invocation("run", host)
