"""What lorebank adds to the admin API: explanations of decisions, the list of keys, all that a user has."""

from __future__ import annotations

from lorebank.http.binding import bind
from lorebank.service.requests.access import AccessKeysQuery, ExplainQuery

BINDINGS = (
    bind("GET", "/v1/lorebank/access/explain", "explain_access", query=ExplainQuery),
    bind("GET", "/v1/lorebank/access/keys", "list_access_keys", query=AccessKeysQuery),
    bind("GET", "/v1/lorebank/access/users/{user_id}", "get_user_access"),
)
