"""The numbered statements that Knowledge has to fulfil, in our words; `docs/knowledge-conformance.md` is made
from this table and from the tests that carry the numbers.

A test carries a number in its name (`test_1_3_26_…`) or in `@pytest.mark.statement("1.3.26", …)`. Numbers of
section 1 count on through it; 2.1 and 3 are numbered here in the order in which the specification has them.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
TARGET = TESTS.parent / "docs" / "knowledge-conformance.md"
_NAME = re.compile(r"test_(\d(?:_\d+){1,2})_[a-z]")

STATEMENTS: dict[str, str] = {
    "1.1.1": "an agent that no named store lists has a store of its own",
    "1.1.2": "agents of one named store share one physical store",
    "1.1.3": "an agent in two named stores is unavailable, whatever their order, until one lets it go",
    "1.1.4": "the other agents of those stores go on",
    "1.1.5": "a named store without agents stays in the inventory",
    "1.1.6": "a store whose entry is removed stays on disk, is listed as unassigned and can be joined again",
    "1.1.7": "an agent removed from the host loses access; its files stay",
    "1.1.8": "an edit of the store map holds without a restart",
    "1.1.9": "looking never makes a store; the first authorised use does",
    "1.1.10": "a refused call makes nothing",
    "1.1.11": "a store that lost its folder, manifest or database is unavailable, never empty or made anew",
    "1.1.12": "no tool takes a store, agent, path or scope",
    "1.1.13": "each call resolves the store anew",
    "1.2.14": "sharing a store renames it: same id, no copy",
    "1.2.15": "agents added by sharing leave the named store they were in",
    "1.2.16": "using a shared store moves the membership only",
    "1.2.17": "using its own store returns an agent to its earlier one, or to a new one",
    "1.2.18": "who shared his store away gets a new empty one",
    "1.2.19": "the list shows every agent, unused isolated stores and unassigned named ones",
    "1.2.20": "a change of assignments is journaled, and a crash in its middle recovered",
    "1.2.21": "read and write rights change neither assignments nor grants",
    "1.3.22": "without a grant a conversation has its own partition only",
    "1.3.23": "a read grant reads the private partition; saves fail and save guidance is left out",
    "1.3.24": "read-and-save reads and saves there, and may approve recall",
    "1.3.25": "there is no save-only grant",
    "1.3.26": "a grant covers its key and what extends it with a colon, nothing else",
    "1.3.27": "the most specific grant wins, even a narrower one",
    "1.3.28": "spawned children inherit through their root's audience",
    "1.3.29": "a read grant feeds the index and recall candidates",
    "1.3.30": "history names the writing agent of a granted save",
    "1.3.31": "grants are state in the registry and hold at once",
    "1.3.32": "a revoked or narrowed grant fails what is under way, and the next call has its own partition",
    "1.3.33": "a grant that no known conversation matches is marked, and works",
    "1.3.34": "granting needs admin rights on that agent",
    "1.3.35": "taking a grant back does not claim to erase what was read",
    "1.4.36": "state lies under the state folder in knowledge/",
    "1.4.37": "a lost registry needs recovery and is not begun anew",
    "1.4.38": "a store has its database, manifest, git history, private and conversation folders",
    "1.4.39": "a store's path comes from the registry, never from configuration",
    "1.4.40": "a store recorded elsewhere is opened there",
    "1.4.41": "vault.json is a strict object",
    "1.4.42": "manifest, checkpoint, partition and authority are checked before and after each query",
    "1.4.43": "another store's manifest fails closed",
    "1.4.44": "an older vault fails closed, and a conflicting checkpoint is never replaced by itself",
    "1.4.45": "git history is made only where writing is on",
    "1.5.46": "no record of another partition changes a result, a count or a decision",
    "1.5.47": "a reference into another partition is like one to nothing",
    "1.5.48": "the private ontology has no effect on conversations",
    "1.5.49": "a record's scope is that of its partition",
    "1.5.50": "a record with a wrong scope is withheld and never relabelled",
    "1.5.51": "history has the author of each revision",
    "1.6.52": "an operator reads with every condition met, and with any of them missing does not",
    "1.6.53": "an operator sees private partitions only",
    "1.6.54": "an operator edits no knowledge",
    "1.6.55": "an owner-private audience has the private partition",
    "1.6.56": "a conversation audience has its own partition",
    "1.6.57": "a spawned child has its root's partition, only as the host delegated it",
    "1.6.58": "missing, stale and sandboxed audiences are refused",
    "1.6.59": "nothing but the audience makes authority",
    "1.6.60": "authority is checked before and after each slow step",
    "1.6.61": "there is no recall across conversations and no background access for hosts",
    "1.7.62": "one runtime a store, shared by its agents",
    "1.7.63": "two agents that write at once lose nothing",
    "1.7.64": "vault.json and private/ are watched, conversations are not",
    "1.7.65": "what is read is right without the watcher; edits from outside are recorded on the next query",
    "1.7.66": "a pending or conflicted publication blocks reads",
    "1.7.67": "stopping, reloading and revoking fence what is under way",
    "1.7.68": "evidence verdicts hold while a file's stamp does; buffers go even when a citation fails",
    "1.8.69": "100,000 entries are scanned, 100,001 fail",
    "1.8.70": "folders go 8 deep",
    "1.8.71": "a record has at most 5,000,000 bytes",
    "1.8.72": "ontology and manifest have at most 64 KiB",
    "1.8.73": "frontmatter nests 20 levels",
    "1.8.74": "1,000 findings in an answer, and it says when there are more",
    "1.8.75": "a scan that cannot be completed fails",
    "1.8.76": "symlinks and hardlinks are refused",
    "1.8.77": "sources are verified by streaming, whatever their size",
    "1.9.78": "empty is an answer",
    "1.9.79": "not created yet is told apart",
    "1.9.80": "unavailable is an error with a reason",
    "1.9.81": "denied tells nothing of the store",
    "2.1.1": "one UTF-8 Markdown file with closed YAML 1.2 frontmatter a record",
    "2.1.2": "the common keys of a record",
    "2.1.3": "the id is the identity, and unknown frontmatter survives",
    "2.1.4": "duplicate ids are listed and not found by id",
    "2.1.5": "an invalid envelope is diagnosed, invalid domain data marked",
    "2.1.6": "pages have a type, given or by path",
    "2.1.7": "claims have a kind and need evidence",
    "2.1.8": "relationships are typed and need evidence",
    "2.1.9": "descriptors are immutable; citations have lines, quote and attribution, uncapped",
    "2.1.10": "remembered claims carry entities, source_page, subject_hint and their excerpt",
    "3.1": "knowledge_ontology gives the catalogue, and definitions by name",
    "3.2": "knowledge_attach_file checks the hash, repeats safely and answers a receipt only",
    "3.3": "knowledge_remember takes a subject, a source page or a hint",
    "3.4": "knowledge_recall opens candidates and takes approval",
    "3.5": "knowledge_relink takes dryRun, limit, cursor and include",
    "4.1.1": "what qualifies for relink",
    "4.1.2": "claims come in the order of their ids",
    "4.1.3": "tier page: the source page is an active entity page",
    "4.1.4": "tier hint: the hint names exactly one entity page",
    "4.1.5": "tier mention: the text names exactly one, and no competing name",
    "4.1.6": "anything else stays as it is, byte for byte",
    "4.1.7": "page comes before hint, hint before mention",
    "4.1.8": "no model, no new pages or stores, no change of text, evidence or lifecycle",
    "4.1.9": "a link is an entities annotation, published like any save",
    "4.1.10": "request ids follow from claim, revision and subject: a replay makes one link",
    "4.1.11": "a link that cannot be published is counted and tried again",
    "4.1.12": "a dry run publishes nothing and shows ten examples an outcome at most",
    "4.1.13": "a call examines 1 to 500 claims",
    "4.1.14": "a cursor ends with null and belongs to its dryRun",
    "4.1.15": "include all lists what has no page, in a dry run only",
    "4.1.16": "relink needs writes",
    "4.1.17": "relink knows its own partition only",
    "5.1": "daily at 03:30 of the host, on by default",
    "5.2": "a bad schedule or zone unschedules the pass and nothing else",
    "5.3": "a pass runs only while writes are on",
    "5.4": "every store and every conversation partition, 500 claims a page",
    "5.5": "stores that are missing or not ready are skipped, never made",
    "5.6": "one failing store does not stop the others",
    "5.7": "a reload or reassignment ends the pass",
    "5.8": "next slot and last results are kept in the registry",
    "5.9": "a missed slot is caught up once, 60 s after the start",
    "5.10": "never two passes at once",
    "5.11": "status shows schedule, runs and counts to operators who may read",
    "5.12": "one summary line a pass, a warning when a store failed",
    "5.13": "the hand-over to a review: once, with its outcome and count",
    "5.14": "conversations never lead to a review",
    "5.15": "the pass is lorebank's own, not an automation of the host",
    "5.16": "a skipped local time runs at the next minute that exists, a repeated one once",
}


def numbers_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The statements that a test says it proves."""
    named = _NAME.match(function.name)
    found = {named[1].replace("_", ".")} if named else set()
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "attr", "") == "statement":
            found |= {str(arg.value) for arg in decorator.args if isinstance(arg, ast.Constant)}
    return found


def proofs() -> dict[str, list[str]]:
    """statement -> `tests/…::test_…` of every test that carries it."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for number in numbers_of(node):
                    name = f"{path.relative_to(TESTS.parent).as_posix()}::{node.name}"
                    found.setdefault(number, []).append(name)
    return found


def document() -> str:
    """The text of `docs/knowledge-conformance.md`."""
    proven = proofs()
    lines = [
        "# What Knowledge has to fulfil, and where it is shown",
        "",
        "Made from `tests/knowledge_statements.py` (`python tests/knowledge_statements.py`); do not edit.",
        "The numbers are those of the specification: stores and access (1), records (2),",
        "tools (3), relink (4) and its schedule (5). Every test named here runs in `make test`.",
        "",
        "| no. | what | shown by |",
        "|---|---|---|",
    ]
    for number, what in STATEMENTS.items():
        tests = "<br>".join(f"`{name}`" for name in proven.get(number, ["nothing yet"]))
        lines.append(f"| {number} | {what} | {tests} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(document(), "utf-8")
    missing = [number for number in STATEMENTS if number not in proofs()]
    sys.exit(f"no test carries: {', '.join(missing)}" if missing else 0)
