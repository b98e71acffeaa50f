"""Names of months, weekdays, seasons and small numbers in the languages that the grammar reads."""

from __future__ import annotations


def _numbered(rows: str, first: int = 1) -> dict[str, int]:
    """One row a number, counted from `first`; the words of a row are different names for it."""
    lines = [line.split() for line in rows.strip().splitlines()]
    return {word: number for number, words in enumerate(lines, first) for word in words}


def word_set(*rows: str) -> frozenset[str]:
    """The words of rows of text."""
    return frozenset(word for row in rows for word in row.split())


# English, German, Turkish, then French, Spanish, Italian, Portuguese and Dutch where the word is not English.
MONTHS = _numbered("""
january jan januar jänner ocak janvier enero gennaio janeiro januari
february feb februar şubat subat février febrero febbraio fevereiro februari
march mar märz maerz mart mars marzo março maart
april apr nisan avril abril aprile
may mai mayıs mayis mayo maggio maio mei
june jun juni haziran juin junio giugno junho
july jul juli temmuz juillet julio luglio julho
august aug ağustos agustos août agosto augustus
september sep sept eylül eylul septembre septiembre settembre setembro
october oct oktober okt ekim octobre octubre ottobre outubro
november nov kasım kasim novembre noviembre
december dec dezember dez aralık aralik décembre diciembre dicembre dezembro
""")
# Names that may stand without a day or year, after "in" or "last"; the rest need a number beside them.
BARE_MONTHS = word_set(
    "january february march april may june july august september october november december jan feb aug",
    "sept oct nov dec januar jänner februar märz mai juni juli oktober dezember ocak şubat mart nisan",
    "mayıs haziran temmuz ağustos eylül ekim kasım aralık",
)
# Month names that are everyday words in some language: a number beside them must be a date's for sure.
AMBIGUOUS_MONTHS = word_set(
    "may march mar mars mart mai mei sep dec jan ekim out",
)

WEEKDAYS = _numbered(
    """
monday mon montag pazartesi
tuesday tue tues dienstag salı sali
wednesday wed mittwoch çarşamba carsamba
thursday thu thur thurs donnerstag perşembe persembe
friday fri freitag cuma
saturday sat samstag sonnabend cumartesi
sunday sun sonntag pazar
""",
    first=0,
)

# First month of the season. Meteorological seasons of the northern hemisphere.
SEASONS = {
    "spring": 3,
    "summer": 6,
    "autumn": 9,
    "fall": 9,
    "winter": 12,
    "frühling": 3,
    "frühjahr": 3,
    "sommer": 6,
    "herbst": 9,
    "ilkbahar": 3,
    "bahar": 3,
    "yaz": 6,
    "sonbahar": 9,
    "kış": 12,
}

NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "couple": 2,
    "ein": 1,
    "eine": 1,
    "einem": 1,
    "einen": 1,
    "einer": 1,
    "zwei": 2,
    "drei": 3,
    "vier": 4,
    "fünf": 5,
    "sechs": 6,
    "sieben": 7,
    "acht": 8,
    "neun": 9,
    "zehn": 10,
    "elf": 11,
    "zwölf": 12,
    "bir": 1,
    "iki": 2,
    "üç": 3,
    "dört": 4,
    "beş": 5,
    "altı": 6,
    "yedi": 7,
    "sekiz": 8,
    "dokuz": 9,
    "on": 10,
    "一": 1,
    "二": 2,
    "两": 2,
    "兩": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
    "한": 1,
    "두": 2,
    "세": 3,
    "네": 4,
    "다섯": 5,
    "여섯": 6,
    "일곱": 7,
    "여덟": 8,
    "아홉": 9,
    "열": 10,
}
VAGUE = word_set(
    "few several some paar einige einigen birkaç 几 幾 数 몇 며칠 며",
)


def number(word: str) -> int | None:
    """The number a word or a row of digits stands for; None for a vague one such as "few".

    Raises `ValueError` for a word that is no number, and for more than six digits.
    """
    key = word.lower()
    if key in VAGUE:
        return None
    if key in NUMBERS:
        return NUMBERS[key]
    if len(key) > 6:
        raise ValueError("number out of range")
    return int(key)


def alternatives(words: object) -> str:
    """The words of a collection as the inside of a pattern group, longest first."""
    if not isinstance(words, dict | frozenset | list | tuple):
        raise TypeError("words must be a collection")
    return "|".join(sorted((str(w) for w in words), key=len, reverse=True))
