"""Read from the source: where identities and decisions are made, and that nobody else makes them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "lorebank"

ASKERS = {"access/resolve.py", "access/vault_resolve.py", "service/guard.py"}
"""Who may take a grant whose audit row is still to be written."""
NO_RESOLVERS = {"request", "review", "value"}
"""What has an `ask` of its own: a request's question, and the hand-over of a review."""
MAKERS = {
    "access/authenticate.py": "a credential that was checked",
    "access/principal.py": "the principal that was stored with a job",
    "access/resolve.py": "tickets, for work without a caller",
    "access/vault_resolve.py": "the same on knowledge stores",
    "http/entrance.py": "the owner of the data directory, on a server without keys",
}
QUESTIONERS = {
    "access/admin/accounts.py": "whether an account may more than the caller",
    "access/admin/escalation.py": "what a change would give to whom",
    "access/admin/gains.py": "what a change would give to whom",
    "access/subject.py": "what somebody would be allowed",
}
"""Who may make one to ask what it would be allowed. None of them gets a grant for it."""
THROUGH_THEM = ("access/explaining.py", "service/handlers/access.py", "service/handlers/iam_resolve.py")
LOCAL_MAKERS = {"access/resolve.py", "access/vault_resolve.py", "http/entrance.py"}
STORED = {"access/principal.py", "jobs/worker.py"}
"""Where the principal of a job is read back."""
_GRANTING = {"resolve", "ask", "ask_listing", "answer", "run", "ticket"}


@cache
def modules() -> dict[str, ast.Module]:
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def calls(name: str) -> Iterator[tuple[str, ast.Call]]:
    """(module, call) of every call whose last name it is."""
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if called == name:
                    yield module, node


def receiver(call: ast.Call) -> str:
    """The last name of what a method is called of."""
    value = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    return str(getattr(value, "attr", getattr(value, "id", "")))


def test_only_the_guard_takes_a_grant_before_it_is_recorded() -> None:
    for name in ("ask", "ask_listing", "ask_operator", "decided"):
        found = {
            f"{module}:{call.lineno}"
            for module, call in calls(name)
            if module not in ASKERS
            and not module.startswith(("cli/", "service/requests/"))  # people at a terminal, and bodies
            and receiver(call) not in NO_RESOLVERS
        }
        assert not found, f"call Resolver.resolve, which records what it decides: {found}"


def test_principals_are_made_where_credentials_are_checked() -> None:
    found = {module for module, _ in calls("Principal")}
    assert found <= {*MAKERS, *QUESTIONERS}, f"identity comes from authentication: {found}"


def test_who_asks_what_others_may_never_acts_for_them() -> None:
    """They read what the rules say; a grant is always the caller's own."""
    for module in (*QUESTIONERS, *THROUGH_THEM):
        tree = modules().get(module)
        if tree is None:
            continue
        used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not used & _GRANTING, (module, used & _GRANTING)


def test_the_local_owner_is_made_at_the_edge_only() -> None:
    for module, call in calls("Principal"):
        kind = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "kind"), None)
        if isinstance(kind, ast.Constant) and kind.value == "local":
            assert module in LOCAL_MAKERS, f"{module}:{call.lineno} makes an owner"


def test_stored_principals_are_read_by_the_worker_only() -> None:
    found = {module for module, _ in calls("principal_from_json")}
    assert found <= STORED, found


def test_the_owner_without_keys_is_used_in_one_place() -> None:
    """`LOCAL` stands for the caller exactly where there is no authenticator, and nowhere else."""
    users = {
        module
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == "LOCAL" and module.startswith(("http/", "service/"))
    }
    assert users == {"http/entrance.py"}
    (entrance,) = [
        node
        for node in ast.walk(modules()["http/entrance.py"])
        if isinstance(node, ast.FunctionDef) and node.name == "_arrived"
    ]
    returns = [node for node in ast.walk(entrance) if isinstance(node, ast.Name) and node.id == "LOCAL"]
    assert len(returns) == 1
    assert "self._authenticator is None" in ast.unparse(entrance)


def test_a_principals_kind_is_never_text_from_a_request() -> None:
    """Where the kind is not a literal it comes from a stored key, a stored job, or the directory."""
    free = {
        module
        for module, call in calls("Principal")
        if not isinstance(
            call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "kind"), None),
            ast.Constant,
        )
    }
    assert free <= {"access/authenticate.py", "access/principal.py", "access/admin/gains.py"}, free


def test_only_audited_decisions_reach_handlers() -> None:
    """Handlers are called by the guard alone."""
    found = {
        f"{module}:{node.lineno}"
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "handler"
        and module != "service/guard.py"
    }
    assert not found, found
