"""Bodies of the admin API: users, groups, policies, service accounts, keys. Documents are checked by the
policy engine; here they are objects of any shape."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, StrictInt, model_validator

from lorebank.service.requests.base import RequestModel
from lorebank.service.requests.fields import Id, Moment, at_most, wrong
from lorebank.service.requests.queries import OptionalId, Query

Name = Annotated[str, at_most("name_chars", "characters")]
PrincipalTypeName = Literal["user", "group", "service_account"]
Document = dict[str, Any]


def _check_email(value: str) -> str:
    if not value.strip():  # an address is one user's only, and so the second one without would be refused
        raise wrong("must not be empty; leave it out, or send null", "email")
    if any(not char.isprintable() for char in value) or len(value) > 320:
        raise wrong("must be at most 320 printable characters", "email")
    return value


Email = Annotated[str, AfterValidator(_check_email)]


class StrictRequest(RequestModel):
    """A body in which an unknown field is an error (specs, Admin API: strict models)."""

    model_config = ConfigDict(extra="forbid")


class CreateUserRequest(RequestModel):
    """A new user."""

    id: Id
    display_name: Name
    email: Email | None = None
    is_active: bool = True


class UpdateUserRequest(RequestModel):
    """What to change of a user; null leaves a field as it is."""

    display_name: Name | None = None
    email: Email | None = None
    is_active: bool | None = None


class AddChannelRequest(RequestModel):
    """A sender to map to a user."""

    provider: Id
    sender_id: Id


class CreateApiKeyRequest(RequestModel):
    """A new key. `expires_at` is when it ends; null: never."""

    may_be_absent = True

    description: Name | None = None
    expires_at: Moment | None = None


class CreateGroupRequest(RequestModel):
    """A new group."""

    id: Id
    display_name: Name


class UpdateGroupRequest(RequestModel):
    """What to change of a group."""

    display_name: Name | None = None


class AddMemberRequest(RequestModel):
    """A user to make a member."""

    user_id: Id


class CreatePolicyRequest(RequestModel):
    """A new policy."""

    id: Id
    display_name: Name
    document: Document


class UpdatePolicyRequest(RequestModel):
    """What to change of a policy."""

    display_name: Name | None = None
    document: Document | None = None


class UpsertPolicyAttachmentRequest(RequestModel):
    """Where to attach a policy. `target_type` and `target_id` are other names of the principal's fields."""

    model_config = ConfigDict(
        json_schema_extra={"required": ["policy_id", "principal_type", "principal_id"]},
    )
    policy_id: Id
    principal_type: PrincipalTypeName | None = None
    principal_id: Id | None = None
    target_type: PrincipalTypeName | None = None
    target_id: Id | None = None
    priority: Annotated[StrictInt, Field(ge=-(2**31), le=2**31 - 1)] = 0

    @model_validator(mode="after")
    def _one_principal(self) -> UpsertPolicyAttachmentRequest:
        for name in ("type", "id"):
            principal, target = getattr(self, f"principal_{name}"), getattr(self, f"target_{name}")
            if principal is None and target is None:
                raise wrong(f"principal_{name} is required", "missing")
            if None not in (principal, target) and principal != target:
                raise wrong(f"principal_{name} and target_{name} contradict each other; send one", "twice")
        return self

    @property
    def kind(self) -> PrincipalTypeName:
        """The type of the principal."""
        return self.principal_type or self.target_type or "user"

    @property
    def principal(self) -> str:
        """The id of the principal."""
        return self.principal_id or self.target_id or ""


class CreateServiceAccountRequest(RequestModel):
    """A new service account of any user."""

    id: Id
    owner_user_id: Id
    display_name: Name
    scoping_policy_id: Id | None = None


class UpdateServiceAccountRequest(RequestModel):
    """What to change of a service account; null clears the scoping policy."""

    display_name: Name | None = None
    scoping_policy_id: Id | None = None
    is_active: bool | None = None


class CreateMyServiceAccountRequest(StrictRequest):
    """A new service account of the caller's own user."""

    id: Id
    display_name: Name
    scoping_policy_id: Id | None = None


class UpdateMyServiceAccountRequest(StrictRequest):
    """The new name of an own service account."""

    display_name: Name


class UpsertBankPolicyRequest(RequestModel):
    """The policy of a bank."""

    document: Document


class AttachmentsQuery(Query):
    """Whose attachments to list: a policy's, a principal's, or that of one at the other."""

    policy_id: OptionalId = None
    principal_type: PrincipalTypeName | None = None
    principal_id: OptionalId = None

    @model_validator(mode="after")
    def _something(self) -> AttachmentsQuery:
        if (self.principal_type is None) != (self.principal_id is None):
            raise wrong("principal_type and principal_id go together", "missing")
        if self.policy_id is None and self.principal_id is None:
            raise wrong("policy_id is required, or principal_type and principal_id", "missing")
        return self


class ResolveQuery(Query):
    """Whose rights to work out, on what, and in which conversation."""

    bank: Id
    action: Annotated[str, Field(max_length=200)] = "bank:recall"
    sa_id: Id | None = None
    user_id: Id | None = None
    sender: Id | None = None
    provider: Id | None = None
    channel: Id | None = None
    topic: Id | None = None
    agent: Id | None = None
