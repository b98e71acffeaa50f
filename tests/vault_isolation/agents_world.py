"""Two stores with private and conversation partitions, a canary of its own in each, and their callers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from access_admin import Admin, token
from canary import canary, found_in
from live_server import Answer, Client, Gone, Server
from wire_knowledge import AUDIENCE_SECRET, BASE, attachment, audience
from wire_walk import Ask

GATEWAY_SECRET = "a secret that a gateway and the server share for these tests only"
SETTINGS = {
    "LOREBANK_AUDIENCE_SECRETS": AUDIENCE_SECRET,
    "LOREBANK_TOKEN_SECRETS": GATEWAY_SECRET,
}
CONFIG: Mapping[str, Any] = {
    "stores": {
        "team": {"label": "Team", "agents": ["main", "mate"]},
        "red": {"agents": ["twin", "rose"]},
        "blue": {"agents": ["twin"]},
    },
    "operatorRead": True,
    "maintenance": {"enabled": False},
}
ONE = "33333333-3333-4333-8333-333333333333"
"""The session of main's first conversation, and of carol's too."""
NEVER = "99999999-9999-4999-8999-999999999999"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")
_RECALL = re.compile(r'"recallId":"[\w-]+"')


def talks(agent: str, key: str, session: str, **more: Any) -> dict[str, Any]:
    """The claims of an agent in a conversation."""
    return {
        "agent": agent,
        "visibility": "conversation",
        "session_key": f"agent:{agent}:{key}",
        "session_id": session,
        **more,
    }


class Steady(Client):
    """A client that asks once more where the server has closed an idle connection."""

    def request(self, *args: Any, **named: Any) -> Answer:
        try:
            return super().request(*args, **named)
        except Gone:
            return super().request(*args, **named)


@dataclass
class Place:
    """One partition: who fills it, its canary, and the ids of what is in it."""

    name: str
    claims: Mapping[str, Any]
    words: tuple[str, str] = ("", "")
    ids: dict[str, str] = field(default_factory=dict)
    recall: str = "never-was-a-recall"
    cursor: str = "never"
    vault: str = NEVER

    @property
    def word(self) -> str:
        return self.words[0]

    def told(self) -> set[str]:
        """Ids that only whoever reads the place may hear."""
        return {*self.ids.values(), self.vault} - {NEVER}


NOWHERE = Place(
    "nowhere",
    {},
    canary("nowhere"),
    {
        name: f"{number}{NEVER[1:]}"
        for number, name in enumerate(("page", "other", "claim", "relation", "source", "loose"), start=1)
    },
)
"""What never was anywhere, in the form of a place."""


class AgentsWorld:
    """The server, filled. Places: `private` (main, shared with mate), `carol`, `one`, `two`, `guests`."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.config = server.home / "knowledge.json5"
        self.configure()
        server.start()
        self.root = Steady(server.port, server.key)
        self.admin = Admin(self.root)
        self._anybody = Steady(server.port, None)
        self.operators = Steady(server.port, None)
        self.places = {
            name: Place(name, claims, canary(name))
            for name, claims in {
                "private": {"agent": "main"},
                "carol": {"agent": "carol"},
                "one": talks("main", "group:1", ONE),
                "two": talks("main", "group:2", "chat two/../private"),
                "guests": talks("carol", "group:1", ONE),
            }.items()
        }
        for place in self.places.values():
            self._plant(place)
        self._vaults()
        self.grant("group:r", "read")
        self.grant("group:rs", "read-and-save")
        self.grant("group:rs:thread:9", "read")
        self.report("main", "mate", "carol", "twin", "rose", "ghost")
        self.report("main", "mate", "carol", "twin", "rose")
        self.operate("POST", "/host/invocations/end", {"invocation": "ended-run"}).ok()
        self._users: dict[str, str] = {}

    def user(self, name: str, *statements: Any) -> str:
        """The key of a user with these rights, made once. His sender `web:<name>` is mapped to him."""
        if name not in self._users:
            self._users[name] = self.admin.user(name, *statements)
            self.admin.channel(name, "web", name)
        return self._users[name]

    def close(self) -> None:
        """Close its connections."""
        self.root.close()
        self._anybody.close()
        self.operators.close()

    # what an owner and a host do

    def configure(self, **changes: Any) -> None:
        """Write the store map and settings."""
        self.config.write_text(json.dumps({**CONFIG, **changes}), encoding="utf-8")

    def operate(self, method: str, path: str, body: Any = None, client: Client | None = None) -> Answer:
        """A request of an operator, root if nobody else."""
        return (client or self.root).request(method, BASE + path, body)

    def grant(self, key: str, access: str, agent: str = "main") -> None:
        body = {"sessionKey": f"agent:{agent}:{key}", "access": access}
        self.operate("PUT", f"/agents/{agent}/grants", body).ok()

    def report(self, *agents: str) -> None:
        """The host's agents from now on."""
        known = [{"agent": "main", "sessionKey": "agent:main:group:1", "kind": "group", "label": "known"}]
        self.operate("POST", "/host/report", {"agents": agents, "conversations": known}).ok()

    # what agents do

    def tool(self, credential: str | None, name: str, ask: Ask) -> Answer:
        """One call of a tool."""
        self._anybody.use(credential)
        return self._anybody.request(
            "POST",
            f"{BASE}/tools/{name}",
            ask.body,
            files=list(ask.files) if ask.files else None,
            fields=ask.fields,
        )

    def call(self, place: Place, name: str, **body: Any) -> Any:
        """One call that must succeed, by the place's own agent."""
        return self.tool(audience(**place.claims), name, Ask(body=body)).ok()

    def _plant(self, place: Place) -> None:
        plain, strange = place.words
        both = f"{plain} {strange}"
        page = self.call(
            place,
            "knowledge_save_page",
            type="person",
            title=f"Mara {plain}title",
            aliases=[f"Mara {strange}alias", f"{plain}alias"],
            tags=[f"{plain}tag"],
            body=f"Gardener {both}old.",
        )
        other = self.call(
            place, "knowledge_save_page", type="company", title=f"Nursery {both}", body=f"Grows {both}."
        )
        self.call(
            place,
            "knowledge_save_page",
            id=page["id"],
            expectedRevision=1,
            body=f"Gardener of the heron cottage {both}body.",
        )
        claim = self.call(
            place,
            "knowledge_remember",
            text=f"Mara keeps the spare key {both}claim.",
            excerpt=f"She keeps the spare key {both}excerpt.",
            attribution=f"{plain}said",
            subject=page["id"],
        )
        loose = self.call(
            place, "knowledge_remember", text=f"Somebody likes {both}loose.", subjectHint=f"{both}hint"
        )
        data = f"first line\n{both}file\n".encode()
        kept = self.tool(
            audience(**place.claims),
            "knowledge_attach_file",
            attachment(
                data, request_id="planted", filename=f"{strange}name.txt", attribution=f"{plain}writer"
            ),
        ).ok()
        relation = self.call(
            place,
            "knowledge_save_relationship",
            relation="works_at",
            **{"from": page["id"]},
            to=other["id"],
            text=f"Since spring {both}note.",
            evidence=[{"source": kept["source"], "lines": 2, "quote": f"{both}file"}],
            requestId="planted-relation",
        )
        place.ids = {
            "page": page["id"],
            "other": other["id"],
            "claim": claim["id"],
            "loose": loose["id"],
            "relation": relation["id"],
            "source": kept["source"],
        }
        place.recall = self.call(place, "knowledge_recall", query="spare key")["recallId"]
        found = self.call(place, "knowledge_search", query="key nursery gardener", limit=1)
        place.cursor = found["nextCursor"]

    def _vaults(self) -> None:
        """Where the stores are; an ontology, and a file that is no record, in each private partition."""
        stores = self.operate("GET", "/stores").ok()["agents"]
        of = {one["agent"]: one["vaultId"] for one in stores}
        for name, place in self.places.items():
            place.vault = of[place.claims["agent"]]
            vault = self.server.data_dir / "knowledge" / "stores" / place.vault / "vault"
            folder = vault / "private"
            if name not in ("private", "carol"):
                folder = next(
                    one for one in vault.glob("conversations/*") if self._holds(one, place.ids["page"])
                )
                UUID(folder.name)
            (folder / "ontology.yaml").write_text(
                f"types:\n  {place.word}type:\n    label: {place.words[1]}\n    folder: {place.word}s\n",
                encoding="utf-8",
            )
            (folder / "people" / f"{place.word}broken.md").write_text(
                f"---\nformat: knowledge-record-v1\ntitle: {place.words[1]}broken\n---\n{place.word}broken\n",
                encoding="utf-8",
            )

    @staticmethod
    def _holds(folder: Any, page: str) -> bool:
        return any(page in one.read_text("utf-8") for one in folder.glob("people/*.md"))

    def others(self, *reached: str) -> list[Place]:
        """The places that are not these."""
        return [place for name, place in self.places.items() if name not in reached]


def leaks(answer: Answer, places: list[Place], sent: str = "") -> list[str]:
    """What of these places an answer shows: canaries, and ids that the request did not name."""
    told = answer.body + repr(answer.headers).encode()
    found = [f"{place.name}: {what}" for place in places for what in found_in(told, place.words)]
    ids = {id for place in places for id in place.told()}
    found += [id for id in ids if id.encode() in told and id not in sent]
    # What the request itself said may be repeated.
    return [
        one for one in found if one.rpartition(": ")[2].split(" in ")[0].casefold() not in sent.casefold()
    ]


def plain(answer: Answer, target: Place) -> tuple[int, str, dict[str, str]]:
    """An answer in a form that can be compared: without the ids, times and words that were asked for."""
    text = _RECALL.sub('"recallId":"R"', _TIME.sub("T", _UUID.sub("U", answer.body.decode())))
    for word in (*target.words, target.recall, target.cursor):
        text = text.replace(word, "W").replace(word[:9], "W")
    left = ("x-request-id", "date", "content-length")
    return answer.status, text, {k: v for k, v in answer.headers.items() if k.lower() not in left}


# what one asks


def reads(target: Place) -> list[tuple[str, Ask]]:
    """One request of each reading tool that names what is in a place."""
    ids, word = target.ids, target.word
    return [
        ("knowledge_search", Ask(body={"query": f"{word} {target.words[1]}", "lifecycle": []})),
        ("knowledge_search", Ask(body={"types": [f"{word}type"]})),
        ("knowledge_get", Ask(body={"id": ids["page"]})),
        ("knowledge_get", Ask(body={"ids": [ids["claim"], ids["relation"], ids["source"]]})),
        ("knowledge_recall", Ask(body={"query": f"spare key {word}"})),
        ("knowledge_recall", Ask(body={"recallId": target.recall, "open": [1]})),
        ("knowledge_recall", Ask(body={"recallId": target.recall, "approve": [1]})),
        ("knowledge_ontology", Ask(body={"view": "definitions", "name": f"{word}type"})),
        ("knowledge_ontology", Ask(body={})),
        ("knowledge_context", Ask(body={})),
        ("knowledge_history", Ask(body={"id": ids["page"]})),
        ("knowledge_history", Ask(body={"id": ids["page"], "revision": 1})),
        ("knowledge_history", Ask(body={"id": ids["page"], "diff": [1, 2]})),
    ]


def goes_on(target: Place) -> Ask:
    """The next page of a search that was begun in a place."""
    return Ask(body={"query": "key nursery gardener", "limit": 1, "cursor": target.cursor})


def saves(target: Place) -> list[tuple[str, Ask]]:
    """One request of each saving tool that names what is in a place. None of them fits a place of one's own,
    so that nothing is changed."""
    ids = target.ids
    cites = [{"source": ids["source"], "lines": 2, "quote": f"{target.word} {target.words[1]}file"}]
    wrong = {"expectedRevision": 77}
    return [
        ("knowledge_restore", Ask(body={"id": ids["page"], "revision": 1, **wrong})),
        ("knowledge_remember", Ask(body={"text": "x", "sourcePage": ids["page"], "requestId": "a b "})),
        ("knowledge_save_page", Ask(body={"id": ids["page"], "body": "x", **wrong})),
        ("knowledge_save_claim", Ask(body={"id": ids["claim"], "text": "x", **wrong})),
        ("knowledge_save_relationship", Ask(body={"id": ids["relation"], "text": "x", **wrong})),
        ("knowledge_save_claim", Ask(body={"id": ids["claim"], "evidence": cites, **wrong})),
        ("knowledge_attach_file", attachment(request_id="f", expectedVaultId=NEVER)),
        ("knowledge_relink", Ask(body={"dryRun": True})),
    ]


def references(target: Place) -> list[tuple[str, Ask]]:
    """Saves of new records that point into a place."""
    ids = target.ids
    cites = [{"source": ids["source"], "lines": 2, "quote": f"{target.word} {target.words[1]}file"}]
    return [
        ("knowledge_save_claim", Ask(body={"text": "New.", "claimKind": "fact", "evidence": cites})),
        ("knowledge_save_page", Ask(body={"title": "New", "type": "person", "dependencies": [ids["page"]]})),
        (
            "knowledge_save_relationship",
            Ask(
                body={
                    "relation": "works_at",
                    "from": ids["page"],
                    "to": ids["other"],
                    "evidence": cites,
                }
            ),
        ),
        ("knowledge_remember", Ask(body={"text": "New one.", "sourcePage": ids["page"]})),
        ("knowledge_remember", Ask(body={"text": "New too.", "subject": ids["page"]})),
        ("knowledge_remember", Ask(body={"text": "New as well.", "subject": f"{target.word}alias"})),
        ("knowledge_save_page", Ask(body={"title": "Newer", "type": f"{target.word}type"})),
    ]


def gateway(sender: str) -> str:
    """A gateway's token for a sender."""
    return token(GATEWAY_SECRET, sender)
