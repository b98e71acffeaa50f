"""Groups and their members."""

from __future__ import annotations

import pytest
from iam_server import Server, allow, deny, path, strict

GROUPS = path("groups")


def test_a_group_is_made_read_changed_and_deleted(server: Server) -> None:
    sent = {"id": "staff", "display_name": "Staff"}
    assert strict(server.done("POST", GROUPS, sent, status=201), "group") == sent
    assert strict(server.done("GET", path("groups", "staff")), "group") == sent
    changed = server.done("PUT", path("groups", "staff"), {"display_name": "All"})
    assert strict(changed, "group") == {"id": "staff", "display_name": "All"}
    server.done("DELETE", path("groups", "staff"), status=204)
    server.refused(404, "GET", path("groups", "staff"))


def test_groups_and_members_are_listed_by_id(server: Server) -> None:
    for user in ("u2", "u1", "u3"):
        server.user(user)
    server.group("b", "u2", "u3", "u1")
    server.group("a")
    assert [one["id"] for one in strict(server.done("GET", GROUPS), "group")] == ["a", "b"]
    members = strict(server.done("GET", path("groups", "b", "members")), "member")
    assert members == [{"user_id": "u1"}, {"user_id": "u2"}, {"user_id": "u3"}]


def test_a_member_is_added_as_often_as_one_likes(server: Server) -> None:
    server.user("alice")
    server.group("staff")
    where = path("groups", "staff", "members")
    for _ in range(2):
        made = strict(server.done("POST", where, {"user_id": "alice"}, status=201), "membership")
        assert made == {"group_id": "staff", "user_id": "alice"}
    assert server.done("GET", where) == [{"user_id": "alice"}]
    for _ in range(2):
        server.done("DELETE", path("groups", "staff", "members", "alice"), status=204)
    assert server.done("GET", where) == []


def test_what_does_not_exist(server: Server) -> None:
    server.group("staff")
    assert "nobody" in server.refused(404, "POST", path("groups", "staff", "members"), {"user_id": "nobody"})
    assert "none" in server.refused(404, "POST", path("groups", "none", "members"), {"user_id": "root"})
    assert server.done("GET", path("groups", "none", "members")) == []
    server.done("DELETE", path("groups", "none", "members", "root"), status=204)
    server.refused(404, "PUT", path("groups", "none"), {"display_name": "x"})
    server.refused(404, "DELETE", path("groups", "none"))


def test_a_group_id_is_taken_once(server: Server) -> None:
    server.group("staff")
    assert "already exists" in server.refused(409, "POST", GROUPS, {"id": "staff", "display_name": "x"})


@pytest.mark.parametrize("body", [{}, {"display_name": None}])
def test_a_change_of_nothing_is_refused(server: Server, body: dict[str, object]) -> None:
    server.group("staff")
    assert server.refused(400, "PUT", path("groups", "staff"), body).startswith("No fields to update")


def test_members_have_what_the_group_has_until_it_goes(server: Server) -> None:
    server.user("alice")
    server.group("staff", "alice")
    server.policy("reader", allow("bank:recall"))
    server.attach("reader", "group", "staff")
    assert server.resolved("team", user_id="alice")["access"]["allowed"] is True
    server.done("DELETE", path("groups", "staff"), status=204)
    assert server.resolved("team", user_id="alice")["access"]["allowed"] is False
    assert server.done("GET", path("policy-attachments"), params={"policy_id": "reader"}) == []
    server.group("staff", "alice")
    assert server.resolved("team", user_id="alice")["access"]["allowed"] is False


def test_the_default_group_is_a_group_whose_policies_reach_unmapped_senders(server: Server) -> None:
    server.group("_default")
    server.policy("public", allow("bank:recall", banks=("faq",)), deny("bank:recall", banks=("hr",)))
    server.attach("public", "group", "_default")
    assert server.resolved("faq", sender="web:1")["access"]["allowed"] is True
    assert server.resolved("hr", sender="web:1")["access"]["allowed"] is False
