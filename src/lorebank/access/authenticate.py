"""Credentials -> Principal: API keys, compared as digests in constant time, and two kinds of tokens."""

from __future__ import annotations

import hmac
import logging
from dataclasses import dataclass

from lorebank import clock
from lorebank.access.audience_token import AUDIENCE_TYPE, read_audience
from lorebank.access.directory import AccessData, AccessStore
from lorebank.access.gateway_token import GatewayToken, read_token
from lorebank.access.keys import digest
from lorebank.access.principal import UNMAPPED, Circumstances, Principal
from lorebank.access.signed_token import STRONG_SECRET_BYTES, TOKEN_START, TokenRules, kind_of
from lorebank.access.standing import standing_problem
from lorebank.clock import Clock, Micros
from lorebank.errors import Unauthenticated

log = logging.getLogger(__name__)
NO_TOKENS = TokenRules()


@dataclass(frozen=True, slots=True)
class Arrival:
    """An authenticated caller; the rest is there for a token with a `jti`, None otherwise."""

    principal: Principal
    token_id: str | None = None
    expires_at: Micros | None = None


class Authenticator:
    """Recognises callers by the access directory. Each answer holds for one request only.

    `tokens` are the rules of gateway tokens, `audiences` those of audience tokens. A token is read by the
    rules of its own kind and by no others.
    """

    def __init__(
        self,
        store: AccessStore,
        tokens: TokenRules = NO_TOKENS,
        audiences: TokenRules = NO_TOKENS,
        *,
        now: Clock = clock.now,
    ) -> None:
        self._store = store
        self._tokens = tokens
        self._audiences = audiences
        self._now = now
        self._told = False
        for rules, setting in ((tokens, "LOREBANK_TOKEN_SECRETS"), (audiences, "LOREBANK_AUDIENCE_SECRETS")):
            if rules.weak:
                log.warning(
                    "a token secret is shorter than %d bytes and could be guessed; set a longer one "
                    "in %s and in the gateway",
                    STRONG_SECRET_BYTES,
                    setting,
                )

    def authenticate(self, authorization: str | None) -> Arrival:
        """Who sends this `Authorization` header: `Bearer CREDENTIAL` or the bare credential.

        `Unauthenticated` when there is none, or none that is valid now. Does not block.
        """
        credential = bearer(authorization)
        if credential is None:
            raise Unauthenticated("an API key is required: send it as 'Authorization: Bearer KEY'")
        if not credential.startswith(TOKEN_START):
            return self._by_key(credential)
        return self._by_audience(credential) if is_audience(credential) else self._by_token(credential)

    def agent(self, authorization: str | None) -> Arrival | None:
        """The agent whose audience token this header carries, None when it carries something else or
        nothing: for servers that ask for no keys. `Unauthenticated` for a token that is not valid."""
        credential = bearer(authorization)
        return None if credential is None or not is_audience(credential) else self._by_audience(credential)

    def claim(self, arrival: Arrival, request_digest: str) -> None:
        """Spend the token on this request. A token with an id is good for one request and for repeats
        of the same one (DESIGN, Access): `Unauthenticated` for any other. May wait for the disk."""
        if arrival.token_id is None or arrival.expires_at is None:
            return
        if not self._store.claim_token(arrival.token_id, request_digest, arrival.expires_at, self._now()):
            raise Unauthenticated("the token was used already; the gateway must make a new one")

    def _by_key(self, secret: str) -> Arrival:
        data, now = self._store.data, self._now()
        given = digest(secret)
        key = data.keys.get(given)
        if key is None or not hmac.compare_digest(key.digest, given):
            raise Unauthenticated("the API key is not valid")
        principal = Principal(key.kind, key.owner_id, credential=key.id)
        _check_standing(data, principal, now)
        self._store.note_use(key.id, now)
        return Arrival(principal)

    def _by_token(self, token: str) -> Arrival:
        if not self._tokens.secrets and not self._told:
            self._told = True
            log.warning(
                "a gateway token came, but no secret is set; "
                "set LOREBANK_TOKEN_SECRETS to the secret that the gateway signs with"
            )
        read = read_token(token, self._tokens, self._now())
        return Arrival(self._sender(read), read.token_id, read.expires_at if read.token_id else None)

    def _by_audience(self, token: str) -> Arrival:
        read = read_audience(token, self._audiences, self._now())
        audience = read.audience
        where = Circumstances(client=audience.host)
        principal = Principal("agent", audience.agent, where, audience=audience)
        return Arrival(principal, read.token_id, read.expires_at)

    def _sender(self, token: GatewayToken) -> Principal:
        """The user that the sender is mapped to. A disabled one is refused, not taken for a stranger."""
        data = self._store.data
        user_id = data.channels.get(token.sender)
        if user_id is None:
            return Principal("unmapped", UNMAPPED, token.circumstances, by_token=True)
        principal = Principal("user", user_id, token.circumstances, by_token=True)
        _check_standing(data, principal, self._now())
        return principal


def bearer(header: str | None) -> str | None:
    """The credential in an `Authorization` header; None when there is none."""
    if header is None:
        return None
    scheme, _, rest = header.strip().partition(" ")
    credential = rest.strip() if scheme.lower() == "bearer" else header.strip()
    return credential or None


def is_audience(credential: str) -> bool:
    """Whether this claims to be an audience token. Nothing is verified."""
    return credential.startswith(TOKEN_START) and kind_of(credential) == AUDIENCE_TYPE


def _check_standing(data: AccessData, principal: Principal, now: Micros) -> None:
    problem = standing_problem(data, principal, now)
    if problem is not None:
        raise Unauthenticated(problem, who=principal.name)
