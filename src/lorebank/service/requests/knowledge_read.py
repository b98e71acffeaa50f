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

    query: _Text = ""
    kinds: Annotated[tuple[RecordKind, ...], Field(max_length=3)] = ()
    types: Annotated[tuple[Name, ...], Field(max_length=50)] = ()
    lifecycle: Annotated[tuple[Lifecycle, ...], Field(max_length=4)] = ("active",)
    since: DateText | None = Field(None, alias="from")
    until: DateText | None = Field(None, alias="to")
    valid_on: DateText | None = None
    min_score: Score = 0.0
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    cursor: Annotated[str, StringConstraints(max_length=500)] | None = None

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

    id: RecordId | None = None
    ids: Annotated[tuple[RecordId, ...], Field(max_length=MAX_IDS)] = ()
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0

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

    query: _Text | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_CANDIDATES)] = DEFAULT_CANDIDATES
    min_score: Score = 0.0
    recall_id: Annotated[str, StringConstraints(min_length=1, max_length=100)] | None = None
    open: Numbers = ()
    approve: Numbers = ()

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
    view: Literal["catalog", "definitions"] = "catalog"
    name: Name | None = None

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
    index_tokens: Annotated[int, Field(ge=100, le=20_000)] = INDEX_TOKENS
    recent_tokens: Annotated[int, Field(ge=100, le=20_000)] = RECENT_TOKENS
    recent_limit: Annotated[int, Field(ge=1, le=200)] = 20

    def ask(self) -> ContextAsk:
        """For `vaults.tools.recent`."""
        return ContextAsk(self.index_tokens, self.recent_tokens, self.recent_limit)


class AttachFileRequest(StrictModel):
    """The field `request` of `knowledge_attach_file`; the file comes as the part `file`.

    `filePath` is the name on the agent's machine, which the client read. It is never opened here; its last
    part is the shown name where `filename` is not given.
    """

    request_id: RequestId
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{64}$")]
    file_path: Annotated[str, StringConstraints(max_length=4_096)] | None = None
    filename: Annotated[str, StringConstraints(max_length=MAX_FILENAME_CHARS)] | None = None
    attribution: Annotated[str, StringConstraints(max_length=MAX_ATTRIBUTION_CHARS)] | None = None
    expected_vault_id: Annotated[str, StringConstraints(max_length=100)] | None = None

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

    id: RecordId
    limit: Annotated[int, Field(ge=1, le=MAX_ROWS)] = DEFAULT_ROWS
    cursor: Annotated[str, StringConstraints(max_length=40)] | None = None
    revision: Revision | None = None
    diff: tuple[Revision, Revision] | None = None

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

    id: RecordId
    revision: Revision
    expected_revision: Revision
    request_id: RequestId | None = None

    def ask(self) -> RestoreAsk:
        """For `vaults.tools.history.restore`."""
        return RestoreAsk(self.id, self.revision, self.expected_revision, self.request_id)
