"""Rules of the house that no linter knows, each with the sentence that a newcomer needs to read."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "lorebank"
TOP_LEVEL_TEXTS = ("*.md", "*.toml", "Makefile", "NOTICE", ".gitignore", ".importlinter")
TEXT_FOLDERS = ("src", "tests", "docs", "bench", "integrations", "requirements", ".ci")
BINARY_SUFFIXES = frozenset({".png", ".jpg", ".ico", ".woff2", ".gz", ".pyc", ".onnx", ".sqlite"})

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 80
MEDIAN_FUNCTION_LINES = 12

# Where anything may go wrong and the process must live on, or where a library raises bare `Exception`.
BROAD_HANDLERS = {
    "banks/vectors.py": "thread edge: one bank must not end the work of all others",
    "http/app.py": "HTTP edge: an unforeseen error becomes a 500 with a request id",
    "jobs/leases.py": "thread edge: the other jobs' leases must go on",
    "jobs/worker.py": "job and thread edge: a failed job is told, the worker lives on",
    "models/loading.py": "thread edge: nobody may wait for ever for a model that failed",
    "models/providers/onnx.py": "both native libraries raise classes without a common root",
    "models/workers.py": "thread edge: an error belongs to the caller of that one call",
    "vaults/maintenance/passing.py": "job edge: a failing store must not end the pass over the others",
    "vaults/maintenance/service.py": "thread edge: one bad look must not end maintenance for good",
    "vaults/store/vectors.py": "thread edge: one store must not end the work for all others",
    "service/tasks.py": "thread edge: a failed background task is told, the server lives on",
}
GRANT_MAKERS = {"Grant": "access/resolve.py", "VaultGrant": "access/vault_resolve.py"}
SEALED = {"access/grant.py", "access/vault_grant.py"}
COPIERS = frozenset({"replace", "copy", "deepcopy", "__replace__", "__new__", "__setattr__"})


@cache
def modules() -> dict[str, ast.Module]:
    """The syntax tree of every module, by its path inside the package."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str]]:
    """Every call, with the last part of the name that is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node, getattr(node.func, "attr", getattr(node.func, "id", ""))


def texts() -> Iterator[tuple[str, str]]:
    """Every text that is committed, by its path."""
    paths = [path for pattern in TOP_LEVEL_TEXTS for path in ROOT.glob(pattern)]
    paths += [path for folder in TEXT_FOLDERS for path in (ROOT / folder).rglob("*")]
    paths = [path for path in paths if "cache" not in path.relative_to(ROOT).as_posix()]
    for path in sorted(set(paths)):
        if path.is_file() and path.suffix not in BINARY_SUFFIXES and "__pycache__" not in path.parts:
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8", "replace")


def lines_with(pattern: str) -> list[str]:
    """Where a pattern occurs in any committed text, as `path:line`."""
    return [
        f"{name}:{number}"
        for name, text in texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if re.search(pattern, line)
    ]


def test_no_module_is_longer_than_500_lines() -> None:
    long = {
        path.relative_to(ROOT).as_posix(): count
        for path in PACKAGE.rglob("*.py")
        if (count := len(path.read_text("utf-8").splitlines())) > MAX_FILE_LINES
    }
    assert not long, f"a file holds one idea; split these at a seam: {long}"


def test_no_function_is_longer_than_80_lines() -> None:
    long = [
        f"{name}:{function.lineno} {function.name} ({length(function)} lines)"
        for name, tree in modules().items()
        for function in functions(tree)
        if length(function) > MAX_FUNCTION_LINES
    ]
    assert not long, f"give the steps of these functions names of their own: {long}"


def test_half_of_all_functions_are_shorter_than_12_lines() -> None:
    lengths = [length(function) for tree in modules().values() for function in functions(tree)]
    assert median(lengths) < MEDIAN_FUNCTION_LINES, "small functions with good names read like a summary"


def test_every_folder_of_the_package_is_a_package() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    lost = [str(folder.relative_to(ROOT)) for folder in folders if not (folder / "__init__.py").is_file()]
    assert not lost, f"type checks and import rules skip a folder without __init__.py: {lost}"


def test_everything_is_caught_only_at_the_edges_of_the_process() -> None:
    broad = {name for name, tree in modules().items() if any(map(catches_everything, ast.walk(tree)))}
    assert broad <= set(BROAD_HANDLERS), (
        "name the exceptions that you expect; a new edge goes into BROAD_HANDLERS with its reason: "
        f"{sorted(broad - set(BROAD_HANDLERS))}"
    )
    stale = sorted(set(BROAD_HANDLERS) - broad)
    assert not stale, f"these catch everything no more; take them off the list: {stale}"


def catches_everything(node: ast.AST) -> bool:
    if isinstance(node, ast.ExceptHandler):
        if isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None:
            return False  # it cleans up, and the error goes on
        caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        return any(one is None or ast.unparse(one) in ("Exception", "BaseException") for one in caught)
    return isinstance(node, ast.Call) and ast.unparse(node) in (
        "suppress(Exception)",
        "suppress(BaseException)",
        "contextlib.suppress(Exception)",
        "contextlib.suppress(BaseException)",
    )


def test_only_resolve_constructs_a_grant() -> None:
    made = [
        f"{name}:{call.lineno}"
        for name, tree in modules().items()
        for call, called in calls(tree)
        if called in GRANT_MAKERS and name != GRANT_MAKERS[called]
    ]
    assert not made, f"a Grant is a decision: call its resolver, which decides and audits: {made}"


def test_a_grant_has_no_other_name_and_no_heirs() -> None:
    """Under another name, or as a base class, it could be constructed unseen."""
    renamed = [
        f"{name}: {ast.unparse(node)}"
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.alias) and node.name in GRANT_MAKERS and node.asname)
        or (isinstance(node, ast.ClassDef) and any(ast.unparse(one) in GRANT_MAKERS for one in node.bases))
        or (isinstance(node, ast.Assign) and ast.unparse(node.value) in GRANT_MAKERS)
    ]
    assert not renamed, f"say Grant and VaultGrant, so that their making can be seen: {renamed}"


def test_a_grant_is_never_copied_or_changed() -> None:
    copied = [
        f"{name}:{call.lineno}"
        for name, tree in modules().items()
        for call, called in calls(tree)
        if called in COPIERS
        and re.search(r"\b(vault_?)?grant\b", " ".join(map(ast.unparse, parts(call))), re.IGNORECASE)
    ]
    assert not copied, f"a changed copy of a Grant was never decided by anyone: {copied}"


def parts(call: ast.Call) -> list[ast.expr]:
    """What a call works on: its object, and its first two arguments."""
    target = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    return [*target, *call.args[:2]]


def test_the_seal_of_a_grant_stays_in_its_room() -> None:
    users = {name for name, tree in modules().items() if "_SEAL" in ast.unparse(tree)}
    assert users <= {*SEALED, *GRANT_MAKERS.values()}, f"only its resolver may seal a Grant: {users}"


def test_nothing_is_pickled() -> None:
    forbidden = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle"}
    found = [
        f"{name} imports {imported}"
        for name, tree in modules().items()
        for imported in imports(tree)
        if imported.split(".")[0] in forbidden
    ]
    assert not found, f"unpickling runs code, and pickles copy what must not be copied: {found}"


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_nothing_is_left_for_later() -> None:
    found = lines_with(r"\b(TODO|FIXME|XXX)\b") + lines_with(r"raise NotImplementedError\b")
    own = [place for place in found if not place.startswith("tests/test_architecture.py:")]
    assert not own, f"finish it, or leave it out and say so in the documents: {own}"


def test_no_text_names_a_place_on_somebodys_machine() -> None:
    found = lines_with(r"(?<![\w.*}])/(root|home|work|opt|Users|mnt)/")
    assert not found, f"paths differ from machine to machine; use the settings or a temporary folder: {found}"


def test_no_text_names_a_package_registry() -> None:
    found = lines_with(
        r"pypi\.org|pythonhosted\.org|registry\.npmjs|--(extra-)?index-url[ =]|--find-links[ =]"
    )
    assert not found, f"which registry serves the packages is the installer's own setting: {found}"


def test_test_files_have_names_of_their_own() -> None:
    counts = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    twice = [name for name, count in counts.items() if count > 1]
    assert not twice, f"pytest imports test files by their base name: {twice}"


def test_the_tests_folder_is_no_package() -> None:
    found = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("__init__.py")]
    assert not found, f"tests import the installed package, never each other: {found}"
