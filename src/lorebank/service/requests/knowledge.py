"""The wire forms of the knowledge tools that write.

Strict: an argument that a tool does not have is refused, so that nobody believes he chose a store, an agent,
a path or a scope (statement 1.1.12). Names are camelCase; the record's own spelling (`source_page`) does too.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StrictInt, StrictStr

from lorebank.service.requests.strict import StrictModel
from lorebank.vaults.tools.inputs import CitationInput
from lorebank.vaults.tools.remember import Remember
from lorebank.vaults.tools.save_claim import SaveClaim
from lorebank.vaults.tools.save_page import SavePage, SectionChange
from lorebank.vaults.tools.save_relationship import SaveRelationship

LifecycleName = Literal["active", "superseded", "withdrawn", "merged"]
DateText = StrictStr | StrictInt
Revision = Annotated[int, Field(strict=True, ge=1)]


class SavingModel(StrictModel):
    """A request of a tool that writes."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)


class CitationBody(SavingModel):
    """A pointer into a retained source."""

    source: StrictStr = Field(description="id of a retained source of this partition")
    lines: StrictStr | StrictInt | None = Field(None, description="inclusive line range from 1, such as 3-5")
    quote: StrictStr | None = Field(None, description="exact words of the source")
    attribution: StrictStr | None = Field(None, description="whose words they are, if not the source's")

    def ask(self) -> CitationInput:
        """For the tool."""
        return CitationInput(self.source, self.lines, self.quote, self.attribution)


class RememberRequest(SavingModel):
    """`knowledge_remember`."""

    text: StrictStr = Field(description="what to remember, in one or a few sentences")
    claim_kind: StrictStr = Field(
        "fact", description="fact, preference, decision, commitment, event or belief"
    )
    title: StrictStr | None = Field(None, description="one line; made of the text when it is not given")
    excerpt: StrictStr | None = Field(
        None, description="the exact words that it rests on; the text if not given"
    )
    subject: StrictStr | None = Field(None, description="id, title or alias of the one page that it is about")
    source_page: StrictStr | None = Field(None, description="id of the page that it comes from")
    subject_hint: StrictStr | None = Field(None, description="a name to link it by later")
    valid_from: DateText | None = Field(None, description="since when it holds: 2026, 2026-11, 2026-11-30")
    valid_to: DateText | None = Field(None, description="until when it holds")
    attribution: StrictStr | None = Field(None, description="who said it")
    request_id: StrictStr | None = Field(None, description="your id of this request; a retry with it is safe")

    def ask(self) -> Remember:
        """For the tool."""
        return Remember(**_sent(self))


class SectionBody(SavingModel):
    """One section of a page."""

    heading: StrictStr | list[StrictStr] = Field(description="the heading, or those above it and itself")
    text: StrictStr = Field(description="the section's new text, without its heading")

    def ask(self) -> SectionChange:
        """For the tool."""
        return SectionChange(
            self.heading if isinstance(self.heading, str) else tuple(self.heading), self.text
        )


class SavePageRequest(SavingModel):
    """`knowledge_save_page`."""

    id: StrictStr | None = Field(None, description="the page to change; without it a page is made")
    expected_revision: Revision | None = Field(None, description="the revision that you have read")
    title: StrictStr | None = Field(None, description="the page's name; its file stays where it is")
    type: StrictStr | None = Field(None, description="a type of the ontology, such as person")
    fields: dict[str, Any] | None = Field(None, description="fields of the type to set; null takes one out")
    aliases: list[StrictStr] | None = Field(None, description="all other names")
    tags: list[StrictStr] | None = Field(None, description="all tags")
    dependencies: list[StrictStr] | None = Field(None, description="ids of all records that it builds on")
    body: StrictStr | None = Field(None, description="the whole text, Markdown")
    section: SectionBody | None = Field(None, description="one section to change, instead of body")
    lifecycle: LifecycleName | None = Field(None, description="active, superseded, withdrawn or merged")
    replaced_by: StrictStr | None = Field(None, description="id of the page that stands in its place")
    reason: StrictStr | None = Field(None, description="why it is taken out of use")
    request_id: StrictStr | None = Field(None, description="your id of this request; a retry with it is safe")

    def ask(self) -> SavePage:
        """For the tool."""
        return SavePage(**_sent(self))


class SaveClaimRequest(SavingModel):
    """`knowledge_save_claim`."""

    id: StrictStr | None = Field(None, description="the claim to change; without it a claim is made")
    expected_revision: Revision | None = Field(None, description="the revision that you have read")
    text: StrictStr | None = Field(None, description="what is claimed")
    claim_kind: StrictStr | None = Field(
        None, description="fact, preference, decision, commitment, event, belief"
    )
    title: StrictStr | None = Field(None, description="one line; made of the text when it is not given")
    evidence: list[CitationBody] | None = Field(None, description="what it rests on")
    entities: list[StrictStr] | None = Field(None, description="ids of all pages that it is about")
    source_page: StrictStr | None = Field(None, description="id of the page that it comes from")
    subject_hint: StrictStr | None = Field(None, description="a name to link it by later")
    valid_from: DateText | None = Field(None, description="since when it holds: 2026, 2026-11, 2026-11-30")
    valid_to: DateText | None = Field(None, description="until when it holds")
    attribution: StrictStr | None = Field(None, description="who said it")
    tags: list[StrictStr] | None = Field(None, description="all tags")
    dependencies: list[StrictStr] | None = Field(None, description="ids of all records that it builds on")
    lifecycle: LifecycleName | None = Field(None, description="active, superseded, withdrawn or merged")
    replaced_by: StrictStr | None = Field(None, description="id of the claim that stands in its place")
    reason: StrictStr | None = Field(None, description="why it is taken out of use")
    request_id: StrictStr | None = Field(None, description="your id of this request; a retry with it is safe")

    def ask(self) -> SaveClaim:
        """For the tool."""
        return SaveClaim(**_sent(self))


class SaveRelationshipRequest(SavingModel):
    """`knowledge_save_relationship`."""

    id: StrictStr | None = Field(None, description="the relationship to change; without it one is made")
    expected_revision: Revision | None = Field(None, description="the revision that you have read")
    relation: StrictStr | None = Field(None, description="a relation of the ontology, such as works_at")
    source: StrictStr | None = Field(None, alias="from", description="id of the page that it goes from")
    target: StrictStr | None = Field(None, alias="to", description="id of the page that it goes to")
    evidence: list[CitationBody] | None = Field(None, description="what it rests on")
    title: StrictStr | None = Field(None, description="one line; made of both pages when it is not given")
    text: StrictStr | None = Field(None, description="a note, Markdown")
    fields: dict[str, Any] | None = Field(
        None, description="fields of the relation to set; null takes one out"
    )
    valid_from: DateText | None = Field(None, description="since when it holds: 2026, 2026-11, 2026-11-30")
    valid_to: DateText | None = Field(None, description="until when it holds")
    attribution: StrictStr | None = Field(None, description="who said it")
    lifecycle: LifecycleName | None = Field(None, description="active, superseded, withdrawn or merged")
    replaced_by: StrictStr | None = Field(None, description="id of the relationship that stands in its place")
    reason: StrictStr | None = Field(None, description="why it is taken out of use")
    request_id: StrictStr | None = Field(None, description="your id of this request; a retry with it is safe")

    def ask(self) -> SaveRelationship:
        """For the tool."""
        return SaveRelationship(**_sent(self))


def _sent(model: SavingModel) -> dict[str, Any]:
    """The fields by their names, with nested models as values and lists as tuples."""
    return {name: _plain(getattr(model, name)) for name in type(model).model_fields}


def _plain(value: Any) -> Any:
    if isinstance(value, (CitationBody, SectionBody)):
        return value.ask()
    return tuple(_plain(item) for item in value) if isinstance(value, list) else value
