"""What is dropped as chatter, and what never is."""

from __future__ import annotations

import random

import pytest

from lorebank.banks.extract import ExtractSettings, ItemInput, extract
from lorebank.banks.extract.chatter import is_bare_answer, is_chatter

CHATTER = [
    "Hello!",
    "hi there",
    "Hey Bob, how are you?",
    "Thanks a lot!",
    "thank you so much",
    "ok",
    "OK 👍",
    "lol",
    "hahaha",
    "Sounds good!",
    "See you later!",
    "Good morning",
    "Have a nice day!",
    "No problem.",
    "Great, thanks!",
    "👍",
    "...",
    "Sooo cool!",
    "Nice to meet you",
    "I'm fine, thanks. And you?",
    "Bye!",
    "Got it, thanks",
    "Guten Morgen!",
    "Danke schön!",
    "Alles klar",
    "Wie geht's dir? Hallo",
    "Tschüss, bis bald!",
    "Merhaba, nasılsın?",
    "Teşekkür ederim",
    "Tamam, görüşürüz",
    "مرحبا",
    "شكرا جزيلا",
    "السلام عليكم",
    "你好！",
    "谢谢",
    "好的，没问题",
    "哈哈哈",
    "再见",
    "こんにちは",
    "ありがとうございます！",
    "はい、了解です。",
    "안녕하세요!",
    "네, 감사합니다",
    "ㅋㅋㅋㅋ",
    "สวัสดีครับ",
    "ขอบคุณมากค่ะ",
    "ครับ 555",
]
KEPT = [
    "Alice prefers tea.",
    "Hi, I moved to Berlin",
    "Thanks, my birthday is in June",
    "ok, 42",
    "Good morning, Kraków!",
    "Hello, the password rotation is every 90 days",
    "I have a dog",
    "yes, the blue one",
    "See you at the station",
    "Danke, ich wohne in Köln",
    "Merhaba, kedim var",
    "شكرا، أسكن في القاهرة",
    "谢谢，我住在北京",
    "好的，三点见面",
    "はい、東京に住んでいます",
    "네, 서울에 살아요",
    "ขอบคุณ ฉันอยู่เชียงใหม่",
    "lol it costs 5 euros",
    "thanks @maria",
    "555",
]
SMALL_TALK = [
    "Hey! How are you doing today?",
    "I'm good, thanks! And you?",
    "Pretty good, thanks for asking!",
    "haha nice",
    "Wow, that's awesome!",
    "Sounds great!",
    "lol",
    "Oh really?",
    "Sure thing!",
    "No worries at all.",
    "You're welcome!",
    "Have a great day!",
    "Talk to you later!",
    "That's so cool!",
    "Good night!",
    "ok",
    "👍",
    "Thank you so much!",
    "What's up?",
    "Not much, you?",
    "Exactly!",
    "I know, right?",
    "Good point.",
    "Take care!",
    "See you tomorrow!",
    "How was your weekend?",
    "It was great, thanks!",
    "Glad to hear that!",
    "Hmm, interesting.",
    "Okay, got it.",
]
FACTS = [
    "My sister Olga works at the harbour in Gdynia.",
    "I am allergic to peanuts.",
    "The invoice number is 88213.",
    "We moved the launch to 14 March 2024.",
    "Pavel's favourite composer is Bartók.",
    "My bike was stolen last Tuesday.",
    "The staging server runs Debian.",
    "I drink my coffee without sugar.",
    "Our flight leaves from gate B12.",
    "Nora adopted a grey cat called Mist.",
]


@pytest.mark.parametrize("text", CHATTER)
def test_greetings_thanks_and_laughter_are_chatter(text: str) -> None:
    assert is_chatter(text, {"bob"})


@pytest.mark.parametrize("text", KEPT)
def test_anything_that_tells_something_is_kept(text: str) -> None:
    assert not is_chatter(text, {"bob"})


def test_two_hundred_turns_of_small_talk_leave_only_the_facts() -> None:
    order = random.Random(11)
    lines = [order.choice(SMALL_TALK) for _ in range(200)]
    for fact in FACTS:
        lines.insert(order.randrange(len(lines)), fact)
    content = "\n".join(f"{('Ann', 'Ben')[i % 2]}: {line}" for i, line in enumerate(lines))
    result = extract(ItemInput(content), ExtractSettings())
    assert len(result.facts) <= 15
    assert all(any(fact in memory.text for memory in result.facts) for fact in FACTS)
    assert result.dropped >= 195


def test_an_item_of_chatter_alone_has_chunks_and_no_memory() -> None:
    result = extract(ItemInput("Hello, how are you?"), ExtractSettings())
    assert (len(result.chunks), result.facts, result.dropped) == (1, (), 1)


@pytest.mark.parametrize("mode", ["chunks", "verbatim"])
def test_modes_that_store_as_is_keep_chatter(mode: str) -> None:
    result = extract(ItemInput("Hello, how are you?"), ExtractSettings(mode=mode))
    assert [fact.text for fact in result.facts] == ["Hello, how are you?"]


def test_a_short_answer_joins_its_question() -> None:
    content = "Ann: Did you ever live in Lisbon?\nBen: Yes!\nAnn: What colour is your car?\nBen: Red."
    result = extract(ItemInput(content), ExtractSettings())
    assert [f.text for f in result.facts] == [
        "Ann: Did you ever live in Lisbon?\nBen: Yes!",
        "Ann: What colour is your car?\nBen: Red.",
    ]


def test_an_answer_to_small_talk_is_dropped_with_it() -> None:
    result = extract(ItemInput("Ann: How are you?\nBen: Good!\nAnn: I bought a violin."), ExtractSettings())
    assert [f.text for f in result.facts] == ["Ann: I bought a violin."]


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Yes!", True),
        ("no", True),
        ("Yeah, sure", True),
        ("Berlin", False),
        ("yes we moved in 2019", False),
        ("", False),
    ],
)
def test_bare_answers(text: str, bare: bool) -> None:
    assert is_bare_answer(text) is bare


def test_a_word_that_begins_a_speakers_name_is_still_a_word() -> None:
    assert is_chatter("Nice, Cath!", {"catherine"})
    assert not is_chatter("Nice, I have a cat!", {"catherine"})


def test_hostile_repetition_is_answered_at_once() -> None:
    for text in ("嗯" * 59 + "x", "です" * 29 + "x", "ha" * 5000, "o" * 20_000):
        assert not is_chatter(text) or len(text) > 60
