"""The ontology that lorebank ships. It is ours: small, for the people, work and places of everyday life.

Every partition has it; `private/ontology.yaml` may add to it (`extension.py`). docs/knowledge-records.md
explains it to people.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from lorebank.vaults.record.ontology import FieldRule, Ontology, PageType, Relation

PROJECT_STATES: Final = ("active", "paused", "completed", "cancelled")


def _fields(*rules: FieldRule) -> MappingProxyType[str, FieldRule]:
    return MappingProxyType({rule.name: rule for rule in rules})


def _date(name: str, description: str) -> FieldRule:
    return FieldRule(name, "date", description=description)


def _text(name: str, description: str) -> FieldRule:
    return FieldRule(name, description=description)


_PERSON = PageType(
    "person",
    "Person",
    "A human being, known by name.",
    "people",
    True,
    ("people", "contact"),
    _fields(
        _text("role", "What the person does, in a few words"),
        _text("organization", "Where the person works, as text; use works_at to link a page"),
        _text("email", "An e-mail address"),
        _text("phone", "A telephone number"),
        _text("location", "Where the person lives or works"),
        _date("birthday", "The day of birth"),
        _text("pronouns", "How the person is spoken of"),
    ),
)
_COMPANY = PageType(
    "company",
    "Company",
    "A firm, association, authority or any other organisation.",
    "companies",
    True,
    ("organization", "organisation", "companies", "firm"),
    _fields(
        _text("industry", "The line of business"),
        _text("website", "A web address"),
        _text("location", "The seat"),
        _date("founded", "When it was founded"),
    ),
)
_PROJECT = PageType(
    "project",
    "Project",
    "Work with a goal: a product, a house, a thesis.",
    "projects",
    True,
    ("projects", "initiative"),
    _fields(
        FieldRule(
            "status",
            "text",
            PROJECT_STATES,
            description="How the work stands; not the lifecycle of the page",
        ),
        FieldRule("owner", "page", description="The page of the person or company that answers for it"),
        _date("started", "When it began"),
        _date("due", "When it shall be done"),
        _text("repository", "Where its files are"),
    ),
)
_PLACE = PageType(
    "place",
    "Place",
    "Somewhere one can be: a city, a house, a room.",
    "places",
    True,
    ("places", "location"),
    _fields(
        _text("address", "The postal address"),
        _text("city", "The city or town"),
        _text("country", "The country"),
        _text("coordinates", "Latitude and longitude"),
    ),
)
_EVENT = PageType(
    "event",
    "Event",
    "Something that happens at a time: a meeting, a journey, a birthday.",
    "events",
    True,
    ("events", "meeting"),
    _fields(
        _date("starts", "When it begins"),
        _date("ends", "When it ends"),
        _text("location", "Where it happens"),
        FieldRule("organizer", "page", description="The page of who holds it"),
    ),
)
_CONCEPT = PageType(
    "concept",
    "Concept",
    "An idea, method, subject or term.",
    "concepts",
    True,
    ("concepts", "topic", "idea"),
    _fields(_text("domain", "The field of knowledge")),
)
_SOURCE = PageType(
    "source",
    "Source",
    "A text that knowledge comes from: a book, an article, a recording. It is about things, no thing itself: "
    "claims are not linked to it.",
    "sources",
    False,
    ("sources", "reference", "document"),
    _fields(
        _text("author", "Who wrote it"),
        _text("url", "Where it is"),
        _date("published", "When it was published"),
        FieldRule("media", "text", description="book, article, video, …"),
    ),
)

_SINCE = _fields(_text("role", "As what"), _date("since", "Since when"), _date("until", "Until when"))
_RELATIONS: Final = (
    Relation(
        "works_at",
        "works at",
        "A person has work there.",
        ("person",),
        ("company",),
        ("employed_by",),
        _SINCE,
    ),
    Relation(
        "works_on", "works on", "Takes part in the work.", ("person", "company"), ("project",), (), _SINCE
    ),
    Relation(
        "member_of", "is a member of", "Belongs to it.", ("person", "company"), ("company",), (), _SINCE
    ),
    Relation(
        "knows", "knows", "Two people know each other.", ("person",), ("person",), ("friend_of",), _SINCE
    ),
    Relation(
        "family_of",
        "is family of",
        "Related by blood, marriage or choice.",
        ("person",),
        ("person",),
        (),
        _fields(_text("role", "How, for example sister")),
    ),
    Relation(
        "reports_to", "reports to", "The other one leads the work.", ("person",), ("person",), (), _SINCE
    ),
    Relation("owns", "owns", "Is the owner.", ("person", "company"), (), ("owner_of",), _SINCE),
    Relation(
        "created",
        "created",
        "Made, wrote or founded it.",
        ("person", "company"),
        (),
        ("founded", "wrote"),
        _fields(_date("at", "When")),
    ),
    Relation("attended", "attended", "Was there.", ("person", "company"), ("event",), ("took_part_in",)),
    Relation("organizes", "organizes", "Holds it.", ("person", "company", "project"), ("event",), ()),
    Relation("located_in", "is in", "Where it is.", (), ("place",), ("lives_in", "based_in"), _SINCE),
    Relation("part_of", "is part of", "A piece of something larger.", (), (), ("belongs_to",)),
    Relation("depends_on", "depends on", "Cannot go on without it.", ("project", "concept", "event"), (), ()),
    Relation("mentions", "mentions", "Speaks of it.", (), (), ()),
    Relation("about", "is about", "What a source is about.", ("source", "event", "project"), (), ()),
    Relation(
        "related_to",
        "is related to",
        "They have to do with each other; use it when nothing else fits.",
        (),
        (),
        ("see_also",),
    ),
)
CLAIM_KINDS: Final = {
    "fact": "Something that is so.",
    "preference": "What somebody likes, wants or avoids.",
    "decision": "What was decided, and by whom.",
    "commitment": "What somebody promised or has to do.",
    "event": "Something that happened or will happen.",
    "belief": "What somebody holds to be so.",
}
_TYPES: Final = (_PERSON, _COMPANY, _PROJECT, _PLACE, _EVENT, _CONCEPT, _SOURCE)

SHIPPED: Final = Ontology(
    types=MappingProxyType({one.name: one for one in _TYPES}),
    relations=MappingProxyType({one.name: one for one in _RELATIONS}),
    claim_kinds=MappingProxyType(CLAIM_KINDS),
    prefixes=tuple((f"{one.folder}/", one.name) for one in _TYPES),
)
"""What every partition starts with."""
