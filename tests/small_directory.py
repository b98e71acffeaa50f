"""An access directory in memory, for tests that are about callers and not about storage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from lorebank.access.directory import AccessData, AccessWriter, Check, Key, ServiceAccount, User
from lorebank.access.keys import stored_key
from lorebank.clock import Micros
from lorebank.errors import Bug

NOW = 1_790_000_000_000_000
SECOND = 1_000_000


@dataclass
class SmallDirectory:
    """Holds one snapshot and what was asked to be remembered."""

    data: AccessData = field(default_factory=lambda: AccessData(1))
    uses: dict[str, Micros] = field(default_factory=dict)
    claims: dict[str, tuple[str, Micros]] = field(default_factory=dict)

    def change(self, check: Check) -> AbstractContextManager[AccessWriter]:
        raise Bug("these tests replace the snapshot as a whole")

    def note_use(self, key_id: str, now: Micros) -> None:
        self.uses[key_id] = now

    def last_uses(self) -> Mapping[str, Micros]:
        return self.uses

    def claim_token(self, token_id: str, body_digest: str, expires_at: Micros, now: Micros) -> bool:
        return self.claims.setdefault(token_id, (body_digest, expires_at))[0] == body_digest

    def update(self, **changed: object) -> None:
        """The next snapshot."""
        self.data = replace(self.data, epoch=self.data.epoch + 1, **changed)  # type: ignore[arg-type]

    def put_user(self, user_id: str, *, is_active: bool = True) -> None:
        self.update(users={**self.data.users, user_id: User(user_id, user_id, None, is_active)})

    def put_account(self, account_id: str, owner: str, *, is_active: bool = True) -> None:
        account = ServiceAccount(account_id, owner, account_id, is_active)
        self.update(service_accounts={**self.data.service_accounts, account_id: account})

    def put_channel(self, provider: str, sender_id: str, user_id: str) -> None:
        self.update(channels={**self.data.channels, (provider, sender_id): user_id})

    def put_key(self, secret: str, owner: str, **more: object) -> Key:
        kind = "service_account" if owner in self.data.service_accounts else "user"
        key = stored_key(secret, kind, owner, NOW, **more)  # type: ignore[arg-type]
        self.put_keys([*self.data.keys.values(), key])
        return key

    def put_keys(self, keys: Iterable[Key]) -> None:
        listed = list(keys)
        self.update(keys={one.digest: one for one in listed}, keys_by_id={one.id: one for one in listed})
