"""What users of memory servers lost, got twice or could not find: the same deeds on a real server."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterator

import pytest
from live_server import Client, Server, bank_path


def test_opposite_preferences_leave_both_and_the_later_one_is_not_lost(client: Client) -> None:
    client.retain("pref", {"content": "Mara likes liquorice.", "timestamp": "2026-01-10T10:00:00Z"})
    client.retain("pref", {"content": "Mara hates liquorice.", "timestamp": "2026-06-10T10:00:00Z"})
    texts = [row["text"] for row in client.memories("pref")]
    assert len(texts) == 2
    assert any("hates" in text for text in texts)
    found = client.recall("pref", "Does Mara like liquorice?")
    assert {"2026-01", "2026-06"} == {row["mentioned_at"][:7] for row in found}


def test_an_event_time_with_a_zone_goes_through_rest_and_the_command_line(
    served: Server, client: Client
) -> None:
    client.retain("times", {"content": "Mara saw a heron.", "timestamp": "2026-03-04T23:30:00-05:00"})
    argv = ("retain", "--bank", "times", "Jonas saw a stork.", "--timestamp", "2026-03-04T23:30:00-05:00")
    assert served.run(*argv).returncode == 0
    times = {row["mentioned_at"] for row in client.memories("times")}
    assert times == {"2026-03-05T04:30:00+00:00"}


def test_a_long_question_with_an_explicit_window_is_answered(client: Client) -> None:
    client.retain("window", {"content": "Mara saw a heron at the weir.", "timestamp": "2026-03-04T10:00:00Z"})
    question = "heron weir " + "and then on some day in march or may we went there again " * 180
    window = {"start": "2026-03-01T00:00:00Z", "end": "2026-03-31T00:00:00Z"}
    assert len(question) > 10_000
    assert client.recall("window", question, temporal_window=window)[0]["text"].startswith("Mara")


@pytest.fixture(scope="module")
def many_languages(served: Server) -> Iterator[Client]:
    client = served.client()
    texts = {
        "zh": "李娜把备用钥匙藏在蓝色花盆下面。",
        "zh-mixed": "我们把路线图写在 GOALS.md 里，用 9router 部署到上海。",
        "ja": "田中さんは毎週金曜日に京都で茶道を教えています。",
        "ko": "민수는 부산에서 열린 사진 전시회에 다녀왔다.",
        "ar": "تعمل ليلى مهندسة في ميناء الإسكندرية.",
        "th": "สมชายเปิดร้านกาแฟที่เชียงใหม่เมื่อปีที่แล้ว",
        "de": "Der Donaudampfschifffahrtskapitän heißt Jürgen Müller.",
        "tr": "İstanbul'daki ışıklı IRMAK lokantasını Irmak Çelik işletiyor.",
    }
    client.retain("words", *({"content": text, "document_id": name} for name, text in texts.items()))
    yield client
    client.close()


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("备用钥匙藏在哪里？", "zh"),
        ("GOALS.md 里写了什么？", "zh-mixed"),
        ("9router 是做什么的", "zh-mixed"),
        ("上海", "zh-mixed"),
        ("茶道を教えているのは誰ですか", "ja"),
        ("사진 전시회는 어디에서 열렸나요?", "ko"),
        ("أين تعمل ليلى؟", "ar"),
        ("ร้านกาแฟอยู่ที่ไหน", "th"),
        ("Wie heißt der Kapitän der Donaudampfschifffahrt? Donaudampfschifffahrtskapitän", "de"),
        ("jurgen muller", "de"),
        ("istanbul ışıklı lokanta", "tr"),
        ("irmak lokantası", "tr"),
    ],
)
def test_a_question_in_any_language_is_answered_by_keyword(
    many_languages: Client, question: str, document: str
) -> None:
    found = many_languages.recall("words", question)
    hits = [row for row in found if row["scores"]["keyword"]]
    assert hits, "the keyword arm found nothing"
    assert hits[0]["document_id"] == document


def test_two_changes_of_one_memory_at_once_are_both_in_its_history(served: Server, client: Client) -> None:
    client.retain("race", {"content": "Mara sleeps in the attic."})
    (row,) = client.memories("race")
    path = bank_path("race", f"/memories/{row['id']}")
    texts = [f"Mara sleeps in room {number}." for number in range(8)]

    def change(text: str) -> None:
        own = served.client()
        own.request("PATCH", path, {"text": text}).ok()
        own.close()

    threads = [threading.Thread(target=change, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    detail = client.get(path)
    told = {detail["text"], *(version["previous_text"] for version in detail["history"])}
    assert told == {"Mara sleeps in the attic.", *texts}


def test_five_thousand_facts_of_one_document_are_all_erased(make_server: Callable[..., Server]) -> None:
    with make_server(LOREBANK_EMBEDDER="none").start() as server:
        client = server.client()
        text = "\n\n".join(
            f"Subject X paid invoice number inv{n:05d} in full that week, as agreed with the bank."
            for n in range(5_000)
        )
        client.request(
            "PATCH",
            bank_path("big", "/config"),
            {"updates": {"retain_extraction_mode": "chunks", "retain_chunk_size": 100}},
        ).ok()
        client.retain("big", {"content": text, "document_id": "subject-x"})
        client.retain("big", {"content": "Mara paid nothing.", "document_id": "other"})
        stored = client.bank("big", "/stats")["total_nodes"] - 1
        assert stored >= 5_000
        answer = client.request("DELETE", bank_path("big", "/documents/subject-x")).ok()
        assert answer["memory_units_deleted"] == stored
        assert [row["document_id"] for row in client.memories("big")] == ["other"]
        assert (
            client.recall("big", "inv04321") == [] or "inv" not in client.recall("big", "inv04321")[0]["text"]
        )


def test_one_name_in_two_unicode_forms_is_one_document_one_entity_and_one_bank(client: Client) -> None:
    composed, decomposed = (unicodedata.normalize(form, "Café Zoë") for form in ("NFC", "NFD"))
    assert composed != decomposed
    for name in (composed, decomposed):
        item = {"content": f"Mara met Jonas at {name}.", "document_id": name, "entities": [{"text": name}]}
        client.retain(name, item)
    assert [row["id"] for row in client.documents(decomposed)] == [composed]
    names = [row["canonical_name"] for row in client.bank(composed, "/entities")["items"]]
    assert names.count(composed) == 1
    assert decomposed not in names
    client.request("DELETE", bank_path(decomposed, f"/documents/{composed}")).ok()
    assert client.documents(composed) == []


@pytest.mark.parametrize(
    "name", ["a b c", "🐦‍⬛ heron", "CON", "aux.txt", "x" * 300, "../../etc", "a/b::c", "%2e%2e", "tab?#&=+"]
)
def test_names_that_trouble_file_systems_are_names_like_any_other(client: Client, name: str) -> None:
    client.retain(name, {"content": "Mara keeps a heron feather.", "document_id": name})
    assert [row["id"] for row in client.documents(name)] == [name]
    archive = client.exported(name)
    assert archive.startswith(b"PK")
    client.request("DELETE", bank_path(name)).ok()
    assert client.request("GET", bank_path(name, "/stats")).status == 404
