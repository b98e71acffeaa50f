"""recall: ask a bank."""

from __future__ import annotations

from typing import Any

import click

from lorebank.cli.api import bank_path
from lorebank.cli.base import Command, State, bank_option, pass_state
from lorebank.cli.failures import usage
from lorebank.cli.settle import wait_for_model
from lorebank.cli.why import show_results, show_why

TAG_MODES = ("any", "all", "any_strict", "all_strict", "exact")


@click.command(cls=Command)
@click.argument("query")
@bank_option
@click.option(
    "--budget",
    type=click.Choice(("low", "mid", "high")),
    default="mid",
    show_default=True,
    help="How hard to look; high also reorders with a cross-encoder.",
)
@click.option(
    "--max-tokens", type=int, default=4096, show_default=True, help="Tokens of text to return at most."
)
@click.option(
    "--types", multiple=True, metavar="TYPE", help="world, experience or observation; may be repeated."
)
@click.option(
    "-t", "--tag", "--tags", "tags", multiple=True, metavar="TAG", help="Only so tagged; may be repeated."
)
@click.option(
    "--tags-match", type=click.Choice(TAG_MODES), default="any", show_default=True, help="How tags match."
)
@click.option("--tag-groups", metavar="JSON", help="Nested tag conditions instead of --tag.")
@click.option("--at", "query_timestamp", metavar="TIME", help="When the question is asked (ISO 8601).")
@click.option("--from", "start", metavar="TIME", help="Favour memories from this time on.")
@click.option("--to", "end", metavar="TIME", help="Favour memories up to this time.")
@click.option("--include-chunks", is_flag=True, help="Also the pieces of text that the memories come from.")
@click.option("--include-entities", is_flag=True, help="Also the entities that the memories name.")
@click.option("--include-source-facts", is_flag=True, help="Also the facts under observations.")
@click.option("--trace", is_flag=True, help="Also how the search went (in the JSON).")
@click.option("--why", is_flag=True, help="Show which arms found each result, and how its score came about.")
@pass_state
def recall(state: State, /, query: str, bank: str, why: bool, trace: bool, **how: Any) -> None:
    """Find what a bank remembers about QUERY, best first."""
    body = request(query, trace=trace or why, **how)
    with state.api() as api:
        if state.in_process:
            wait_for_model(api)
        answer = api.post(bank_path(bank, "memories", "recall"), body)
    state.printer.result(answer, lambda: (show_why if why else show_results)(state.printer, answer))


def request(query: str, *, trace: bool, **how: Any) -> dict[str, Any]:
    """The body of a recall; a failure when the options contradict each other."""
    from lorebank.cli.base import read_json

    if how["tag_groups"] and how["tags"]:
        raise usage("--tag-groups and --tag cannot be used together")
    parts = {
        "chunks": "include_chunks",
        "entities": "include_entities",
        "source_facts": "include_source_facts",
    }
    body = {
        "query": query,
        "budget": how["budget"],
        "max_tokens": how["max_tokens"],
        "types": list(how["types"]) or None,
        "tags": list(how["tags"]) or None,
        "tags_match": how["tags_match"],
        "tag_groups": read_json(how["tag_groups"], "--tag-groups") if how["tag_groups"] else None,
        "query_timestamp": how["query_timestamp"],
        "temporal_window": _window(how["start"], how["end"]),
        "trace": trace,
        "include": {name: {} if how[option] else None for name, option in parts.items()},
    }
    return {name: value for name, value in body.items() if value is not None}


def _window(start: str | None, end: str | None) -> dict[str, str] | None:
    if (start is None) != (end is None):
        raise usage("--from and --to belong together")
    if start is None or end is None:
        return None
    return {"start": start, "end": end}
