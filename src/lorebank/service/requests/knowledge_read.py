"""The requests of the knowledge tools that read, and of `knowledge_attach_file`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from lorebank.service.requests.fields import wrong
from lorebank.service.requests.strict import StrictModel
from lorebank.service.requests.uploads import UploadedFile
from lorebank.vaults.evidence.descriptors import MAX_ATTRIBUTION_CHARS, MAX_FILENAME_CHARS
from lorebank.vaults.find.index import INDEX_TOKENS, RECENT_TOKENS
from lorebank.vaults.find.question import DEFAULT_LIMIT, MAX_LIMIT, Question
from lorebank.vaults.record.values import Lifecycle, RecordKind
from lorebank.vaults.tools.attach_file import AttachAsk
from lorebank.vaults.tools.get import MAX_IDS, GetAsk
from lorebank.vaults.tools.history import DEFAULT_ROWS, MAX_ROWS, HistoryAsk, RestoreAsk
from lorebank.vaults.tools.ontology import OntologyAsk
from lorebank.vaults.tools.recall import DEFAULT_CANDIDATES, MAX_CANDIDATES, RecallAsk
from lorebank.vaults.tools.recent import ContextAsk
from lorebank.vaults.tools.search import SearchAsk

MAX_ANSWER_QUERY_CHARS = 100_000
_Text: TypeAlias = Annotated[str, StringConstraints(max_length=MAX_ANSWER_QUERY_CHARS)]
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=200)]
RecordId: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=200)]
DateText: TypeAlias = Annotated[str, StringConstraints(min_length=4, max_length=40)]
Score: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Numbers: TypeAlias = Annotated[tuple[int, ...], Field(max_length=MAX_CANDIDATES)]
Revision: TypeAlias = Annotated[int, Field(ge=1, le=2**53)]


def _request_id(value: str) -> str:
    if not value.isprintable() or value != value.strip():
        raise wrong("must be printable, without blanks at its ends; a fresh UUID is best", "request_id")
    return value


RequestId: TypeAlias = Annotated[
    str, StringConstraints(min_length=1, max_length=200), AfterValidator(_request_id)
]
"""Names one request, so that repeating it does nothing twice."""


class SearchRequest(StrictModel):
    """`knowledge_search`."""

    query: _Text = Field("", description="words, names or ids to look for")
    kinds: Annotated[tuple[RecordKind, ...], Field(max_length=3)] = Field(
        (), description="only records of these kinds; empty: all"
    )
    types: Annotated[tuple[Name, ...], Field(max_length=50)] = Field(
        (), description="only of these types of the ontology; empty: all"
    )
    lifecycle: Annotated[tuple[Lifecycle, ...], Field(max_length=4)] = Field(
        ("active",), description="only records in these states; empty: all"
    )
    since: DateText | None = Field(None, alias="from", description="recorded on this date or later")
    until: DateText | None = Field(None, alias="to", description="recorded on this date or earlier")
    valid_on: DateText | None = Field(None, description="only what holds on this date")
    min_score: Score = Field(0.0, description="leave out hits with a lower score")
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = Field(
        DEFAULT_LIMIT, description="most hits of an answer"
    )
    cursor: Annotated[str, StringConstraints(max_length=500)] | None = Field(
        None, description="nextCursor of the answer before"
    )

    def ask(self) -> SearchAsk:
        """For `vaults.tools.search`. An empty list of lifecycles asks for all of them."""
        question = Question(
            query=self.query,
            kinds=self.kinds,
            types=self.types,
            lifecycles=self.lifecycle,
            since=self.since,
            until=self.until,
            valid_on=self.valid_on,
            min_score=self.min_score,
        )
        return SearchAsk(question, self.limit, self.cursor)


class GetRequest(StrictModel):
    """`knowledge_get`: one `id`, or up to 20 `ids`."""

    id: RecordId | None = Field(None, description="id of the one record to read")
    ids: Annotated[tuple[RecordId, ...], Field(max_length=MAX_IDS)] = Field(
        (), description="ids of several records, in place of id"
    )
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = Field(
        0, description="where to go on in a long text, in characters"
    )

    @model_validator(mode="after")
    def _one_way(self) -> GetRequest:
        if (self.id is None) == (not self.ids):
            raise wrong("give either id or ids", "id_or_ids")
        return self

    def ask(self) -> GetAsk:
        """For `vaults.tools.get`."""
        return GetAsk(self.ids if self.id is None else (self.id,), self.offset)


class RecallRequest(StrictModel):
    """`knowledge_recall`: a `query`, or `recallId` with the numbers to `open` or to `approve`."""

    query: _Text | None = Field(None, description="the question to find candidates for")
    limit: Annotated[int, Field(ge=1, le=MAX_CANDIDATES)] = Field(
        DEFAULT_CANDIDATES, description="most candidates of an answer"
    )
    min_score: Score = Field(0.0, description="leave out candidates with a lower score")
    recall_id: Annotated[str, StringConstraints(min_length=1, max_length=100)] | None = Field(
        None, description="recallId of the answer whose numbers are meant"
    )
    open: Numbers = Field((), description="numbers of the candidates to read whole")
    approve: Numbers = Field((), description="numbers of the candidates that answer the question")

    @model_validator(mode="after")
    def _one_way(self) -> RecallRequest:
        if (self.query is None) == (self.recall_id is None):
            raise wrong("give either query, or recallId with open or approve", "recall")
        if self.recall_id is None and (self.open or self.approve):
            raise wrong("open and approve need the recallId of an earlier answer", "recall")
        if self.recall_id is not None and bool(self.open) == bool(self.approve):
            raise wrong("give the numbers either to open or to approve", "recall")
        return self

    def ask(self) -> RecallAsk:
        """For `vaults.tools.recall`."""
        return RecallAsk(self.query, self.limit, self.min_score, self.recall_id, self.open, self.approve)


class OntologyRequest(StrictModel):
    """`knowledge_ontology`: nothing, or `view` "definitions" with a name."""

    may_be_absent: ClassVar[bool] = True
    view: Literal["catalog", "definitions"] = Field(
        "catalog", description="catalog: all names; definitions: one of them in full"
    )
    name: Name | None = Field(None, description="the type or relation to define")

    @model_validator(mode="after")
    def _name_with_view(self) -> OntologyRequest:
        if (self.view == "definitions") != (self.name is not None):
            raise wrong("view 'definitions' and name go together", "view")
        return self

    def ask(self) -> OntologyAsk:
        """For `vaults.tools.ontology`."""
        return OntologyAsk(self.name)


class ContextRequest(StrictModel):
    """`knowledge_context`."""

    may_be_absent: ClassVar[bool] = True
    index_tokens: Annotated[int, Field(ge=100, le=20_000)] = Field(
        INDEX_TOKENS, description="most tokens of the index of pages"
    )
    recent_tokens: Annotated[int, Field(ge=100, le=20_000)] = Field(
        RECENT_TOKENS, description="most tokens of the recent changes"
    )
    recent_limit: Annotated[int, Field(ge=1, le=200)] = Field(20, description="most recent changes")

    def ask(self) -> ContextAsk:
        """For `vaults.tools.recent`."""
        return ContextAsk(self.index_tokens, self.recent_tokens, self.recent_limit)


class AttachFileRequest(StrictModel):
    """The field `request` of `knowledge_attach_file`; the file comes as the part `file`.

    `filePath` is the name on the agent's machine, which the client read. It is never opened here; its last
    part is the shown name where `filename` is not given.
    """

    request_id: RequestId = Field(description="names this request: repeating it keeps nothing twice")
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{64}$")] = Field(
        description="SHA-256 of the file, in hex"
    )
    file_path: Annotated[str, StringConstraints(max_length=4_096)] | None = Field(
        None, description="where the client read it; never opened here"
    )
    filename: Annotated[str, StringConstraints(max_length=MAX_FILENAME_CHARS)] | None = Field(
        None, description="the name to show; the last part of filePath if not given"
    )
    attribution: Annotated[str, StringConstraints(max_length=MAX_ATTRIBUTION_CHARS)] | None = Field(
        None, description="whose words they are"
    )
    expected_vault_id: Annotated[str, StringConstraints(max_length=100)] | None = Field(
        None, description="refuse when the agent's store is another one by now"
    )

    def ask(self, size: int) -> AttachAsk:
        """For `vaults.tools.attach_file`; `size` is what arrived."""
        last = None if self.file_path is None else self.file_path.replace("\\", "/").rpartition("/")[2]
        return AttachAsk(
            request_id=self.request_id,
            sha256=self.sha256,
            size=size,
            filename=self.filename or last or None,
            attribution=self.attribution,
            expected_vault=self.expected_vault_id,
        )


@dataclass(frozen=True, slots=True)
class Attachment:
    """The request of `knowledge_attach_file`: what was said about the file, and the file."""

    request: AttachFileRequest
    file: UploadedFile

    def ask(self) -> AttachAsk:
        """For `vaults.tools.attach_file`."""
        return self.request.ask(self.file.size)


class HistoryRequest(StrictModel):
    """`knowledge_history`: all revisions, or one `revision`, or the `diff` of two."""

    id: RecordId = Field(description="id of the record")
    limit: Annotated[int, Field(ge=1, le=MAX_ROWS)] = Field(
        DEFAULT_ROWS, description="most revisions of an answer"
    )
    cursor: Annotated[str, StringConstraints(max_length=40)] | None = Field(
        None, description="nextCursor of the answer before"
    )
    revision: Revision | None = Field(None, description="show this revision whole")
    diff: tuple[Revision, Revision] | None = Field(None, description="compare these two revisions")

    @model_validator(mode="after")
    def _one_way(self) -> HistoryRequest:
        if self.revision is not None and self.diff is not None:
            raise wrong("give either revision or diff", "history")
        return self

    def ask(self) -> HistoryAsk:
        """For `vaults.tools.history.run`."""
        return HistoryAsk(self.id, self.limit, self.cursor, self.revision, self.diff)


class RestoreRequest(StrictModel):
    """`knowledge_restore`."""

    id: RecordId = Field(description="id of the record")
    revision: Revision = Field(description="the revision to bring back")
    expected_revision: Revision = Field(description="the revision that the record has now")
    request_id: RequestId | None = Field(
        None, description="names this request: repeating it saves nothing twice"
    )

    def ask(self) -> RestoreAsk:
        """For `vaults.tools.history.restore`."""
        return RestoreAsk(self.id, self.revision, self.expected_revision, self.request_id)
