"""How a command fails: one code, one message for people, one exit code for scripts."""

from __future__ import annotations

from typing import Any

from lorebank.errors import LorebankError, StoreUnavailable, printable

OK = 0
FAILED = 1
INVALID = 2
MISSING = 3
DENIED = 4
UNAVAILABLE = 5
INTERRUPTED = 130

EXIT_CODES = {
    OK: "done",
    FAILED: "it was tried and failed, or the state contradicts it",
    INVALID: "wrong usage or invalid input; nothing was changed",
    MISSING: "the bank, document, memory or operation does not exist",
    DENIED: "no valid API key, or it may not do this",
    UNAVAILABLE: "the server, or something that it needs, does not answer now",
    INTERRUPTED: "stopped by Ctrl-C; a started job goes on",
}
"""What each exit code means, for the documentation."""

_STATUS = {
    400: ("bad_request", INVALID),
    401: ("unauthenticated", DENIED),
    403: ("forbidden", DENIED),
    404: ("not_found", MISSING),
    409: ("conflict", FAILED),
    410: ("gone", FAILED),
    413: ("invalid_input", INVALID),
    422: ("invalid_input", INVALID),
    429: ("limit_exceeded", UNAVAILABLE),
    502: ("unavailable", UNAVAILABLE),
    503: ("unavailable", UNAVAILABLE),
    504: ("unavailable", UNAVAILABLE),
}


class CliError(Exception):
    """A failure that is told in one message; `code` is stable, `exit_code` is the process's. `reason` is the
    code of what keeps a knowledge store from being used, empty for everything else."""

    def __init__(self, code: str, message: str, exit_code: int, reason: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = printable(message)
        self.exit_code = exit_code
        self.reason = reason


def usage(message: str) -> CliError:
    """Wrong usage of a command."""
    return CliError("usage", message, INVALID)


_NEXT = {
    "Bank": "'lorebank bank list' shows the banks; 'lorebank retain' makes one.",
    "Document": "'lorebank document list' shows a bank's documents.",
    "Memory": "'lorebank memory list' shows a bank's memories.",
    "Operation": "'lorebank operation list' shows a bank's operations.",
    "User": "'lorebank access user list' shows the users; 'lorebank access user add' makes one.",
    "Group": "'lorebank access group list' shows the groups; 'lorebank access group add' makes one.",
    "Policy": "'lorebank access policy list' shows the policies; 'lorebank access policy put' makes one.",
    "Service": "'lorebank access service-account list' shows the service accounts.",
}
_NOT_ALLOWED = (
    "'lorebank access rights BANK' shows what a key may do; whoever administers the server learns the "
    "reason from 'lorebank access explain'."
)
_NO_AGENT = (
    "'lorebank vault stores' shows the agents that your policies name; whoever administers the server learns "
    "the reason from 'lorebank access explain --bank agent:ID'."
)
_NO_AUDIENCE = (
    "The agent's token and its host decide, no policy; 'lorebank vault stores' shows whether the host has "
    "removed the agent."
)
_OPERATOR_READ = "Set 'operatorRead: true' in the store map (knowledge.json5); it holds at once."
_KEYLESS = ("an API key is required", "the API key is not valid")
_GIVE_KEY = "Give one with --api-key or LOREBANK_API_KEY; the server's 'lorebank key show' prints root's."


def next_step(error: CliError) -> str:
    """What to do after `error`, as a sentence for people; empty when its message says it all."""
    if error.code == "not_found" and error.message.endswith("not found"):
        return _NEXT.get(error.message.partition(" ")[0], "")
    if error.code == "unauthenticated":
        return _GIVE_KEY if error.message.startswith(_KEYLESS) else ""
    if error.code == "forbidden" and error.message.endswith(" denied"):
        return _denied(error.message.removesuffix(" denied"))
    if error.code == "forbidden" and error.message.endswith("`operatorRead` is false"):
        return _OPERATOR_READ
    return ""


def _denied(action: str) -> str:
    if action in ("knowledge:recall", "knowledge:save"):
        return _NO_AUDIENCE
    return _NO_AGENT if action.startswith("knowledge:") else _NOT_ALLOWED


def from_error(error: LorebankError) -> CliError:
    """The failure that a lorebank error inside this process means."""
    _, exit_code = _STATUS.get(error.status, ("", FAILED))
    reason = error.reason if isinstance(error, StoreUnavailable) else ""
    return CliError(error.code, error.message, exit_code, reason)


def from_response(status: int, body: Any) -> CliError:
    """The failure that an HTTP error answer means."""
    code, exit_code = _STATUS.get(status, ("failed", FAILED))
    told: dict[str, Any] = body if isinstance(body, dict) else {}
    message = _words(told.get("detail")) or f"the server answered with status {status}"
    reason = told.get("reason")
    return CliError(code, message, exit_code, reason if isinstance(reason, str) else "")


def _words(detail: Any) -> str:
    if isinstance(detail, str):
        return detail
    if isinstance(detail, list):
        return "; ".join(_problem(item) for item in detail if isinstance(item, dict))
    if isinstance(detail, dict):
        return "; ".join(f"{name}: {value}" for name, value in detail.items())
    return ""


_PLAIN = {"extra_forbidden": "is not known here", "missing": "is missing"}
"""Plain words for the two commonest faults of a request."""


def _problem(item: dict[str, Any]) -> str:
    loc = [str(part) for part in item.get("loc", ())]
    where = ".".join(loc[1:] if loc[:1] in (["body"], ["query"], ["path"]) and loc[1:] else loc)
    plain = _PLAIN.get(str(item.get("type")))
    if where and plain:
        return f"{where} {plain}"
    said = str(item.get("msg", "is not valid"))
    return f"{where}: {said}" if where and not said.startswith(where) else said
