"""Requests about knowledge stores that are no agent's reading or saving: assignments, grants, browsing,
upkeep, what a gateway reports, and relink. Strict: an unknown field is an error. Wire names are camelCase.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr, field_validator, model_validator

from lorebank.service.requests.fields import wrong
from lorebank.service.requests.strict import StrictModel, StrictQuery
from lorebank.vaults.find.question import Question
from lorebank.vaults.maintenance.review import ANSWERS
from lorebank.vaults.record.values import RecordKind
from lorebank.vaults.relink.values import DEFAULT_LIMIT, MAX_CURSOR_CHARS, MAX_LIMIT, Ask
from lorebank.vaults.tools.search import SearchAsk

MAX_BROWSED = 50
"""Records in one page of browsing."""
_Text = Annotated[StrictStr, Field(min_length=1, max_length=1_000)]
_Cursor = Annotated[str, Field(min_length=1, max_length=MAX_CURSOR_CHARS)]
SessionKey = Annotated[StrictStr, Field(min_length=1, max_length=1_024)]


# assignments and grants


class ShareRequest(StrictModel):
    """Make the agent's own store the named store `name`, for `agents` too."""

    name: _Text
    label: _Text | None = None
    agents: Annotated[tuple[_Text, ...], Field(max_length=1_000)] = ()


class UseSharedRequest(StrictModel):
    """Let the agent use the named store `name`."""

    name: _Text
    label: _Text | None = None


class GrantRequest(StrictModel):
    """Let the conversations that the key covers reach the agent's private partition."""

    session_key: SessionKey
    access: StrictStr

    @field_validator("access")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in ("read", "read-and-save"):
            raise wrong("must be read or read-and-save; there is no grant to save only", "access")
        return value


class RevokeRequest(StrictModel):
    """Take the grant of exactly this key away."""

    session_key: SessionKey


# browsing


@dataclass(frozen=True, slots=True)
class Browse:
    """What an operator wants to see of an agent's private partition: a list, or hits of a query."""

    query: str
    kind: RecordKind | None
    limit: int
    cursor: str | None

    def search(self) -> SearchAsk:
        """The same as a question, over records of every lifecycle."""
        kinds = () if self.kind is None else (self.kind,)
        return SearchAsk(Question(query=self.query, kinds=kinds, lifecycles=()), self.limit, self.cursor)


class BrowseQuery(StrictQuery):
    """A page of an agent's private records; with `q` those that it finds, best first."""

    q: Annotated[str, Field(max_length=1_000)] = ""
    kind: RecordKind | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_BROWSED)] = 20
    cursor: _Cursor | None = None

    def params(self) -> dict[str, object]:
        """Wire name -> value, and `browse`."""
        return super().params() | {"browse": Browse(self.q.strip(), self.kind, self.limit, self.cursor)}


# upkeep


class RunMaintenanceRequest(StrictModel):
    """Run the pass now. There is nothing to say."""

    may_be_absent: ClassVar[bool] = True


class CheckRequest(StrictModel):
    """Look at every store; with `readAll` every file and every retained source is read."""

    may_be_absent: ClassVar[bool] = True
    read_all: StrictBool = False


class ResolveRequest(StrictModel):
    """End a conflicted publication: keep its text (`mine`), or what stands in the files now (`theirs`).

    `folder` is its partition, `private` or `conversations/<uuid>`, as the check tells it.
    """

    request_id: _Text
    keep: Literal["mine", "theirs"]
    folder: Annotated[StrictStr, Field(pattern=r"^(?:private|conversations/[0-9a-f-]{36})$")] = "private"


class ImportRequest(StrictModel):
    """Read the vault at `path`, an absolute path on the server's machine, into a new store: the named store
    `name`, or the own store of `agent`."""

    path: Annotated[StrictStr, Field(min_length=1, max_length=4_096)]
    name: _Text | None = None
    agent: _Text | None = None

    @model_validator(mode="after")
    def _one_owner(self) -> ImportRequest:
        if self.name is not None and self.agent is not None:
            raise wrong("give name or agent, not both", "name_or_agent")
        return self


# the gateway


class HostConversation(StrictModel):
    """A conversation that the gateway knows; for listings only."""

    agent: _Text
    session_key: SessionKey
    kind: Literal["direct", "group", "channel"]
    label: Annotated[StrictStr, Field(max_length=1_000)] | None = None


class HostReportRequest(StrictModel):
    """All agents and conversations that the gateway has now."""

    agents: Annotated[tuple[_Text, ...], Field(max_length=10_000)]
    conversations: Annotated[tuple[HostConversation, ...], Field(max_length=100_000)] = ()


class EndInvocationRequest(StrictModel):
    """The run of an agent is over. `host` as its tokens have it: several hosts may name runs alike."""

    invocation: Annotated[StrictStr, Field(min_length=1, max_length=1_024)]
    host: Annotated[StrictStr, Field(min_length=1, max_length=512)] | None = None


class AnswerReviewRequest(StrictModel):
    """What became of a request for a review. A disabled automation is `skipped`."""

    outcome: Annotated[StrictStr, Field(json_schema_extra={"enum": list(ANSWERS)})]

    @field_validator("outcome")
    @classmethod
    def _for_a_gateway(cls, value: str) -> str:
        if value not in ANSWERS:
            raise wrong(f"must be one of: {', '.join(ANSWERS)}", "outcome")
        return value


# relink


class RelinkRequest(StrictModel):
    """Run it with `dryRun` first, and follow `nextCursor` with the same `dryRun` until it is null."""

    dry_run: StrictBool = Field(False, description="true: only say what would be linked")
    limit: Annotated[StrictInt, Field(ge=1, le=MAX_LIMIT)] = Field(
        DEFAULT_LIMIT, description="most claims to look at"
    )
    cursor: Annotated[StrictStr, Field(min_length=1, max_length=MAX_CURSOR_CHARS)] | None = Field(
        None, description="nextCursor of the answer before"
    )
    include: Literal["unlinked", "all"] = Field("unlinked", description="which claims the answer lists")

    def ask(self) -> Ask:
        """The value of the tool; `InvalidInput` for arguments that do not go together."""
        asked = Ask(self.dry_run, self.limit, self.cursor, self.include)
        asked.after()
        return asked
