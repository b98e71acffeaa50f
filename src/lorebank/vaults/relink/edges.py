"""Where a name ends in scripts without spaces: whether what stands beside it could be more of the name.

The lists are ours and short on purpose: a name whose neighbour is not in them is unclear, and an unclear name
links nothing. Nothing here is needed for scripts with spaces.
"""

from __future__ import annotations

import re
from typing import Final

_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HIRAGANA = re.compile("[\u3041-\u309f]")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_HANGUL_RUN = re.compile("[\uac00-\ud7a3]{0,8}")


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_AFTER_HAN: Final = _listed(
    """
    的 是 在 有 了 说 說 要 会 會 想 不 也 都 就 将 將 把 被 给 給 对 對 从 從 去 为 為 因 曾 已 做 住 认 認
    觉 覺 喜欢 喜歡 参加 參加 提出 提到 建议 建議 表示 来自 來自 希望 可能 可以 能够 能夠
    应该 應該 正在 负责 負責
    """
)
_BEFORE_HAN: Final = frozenset("的是说說对對给給由被把在向从從请請让讓叫问問找见見为為了于於")
_AFTER_KANA: Final = _listed("は が を に の も へ で から さん さま くん ちゃん です")
_PARTICLES: Final = frozenset(
    _listed("는 를 에게 에서 께서 의 부터 까지 한테 님 님은 님이 님의 님을 씨 씨는 씨가 씨의 씨를 씨에게")
)
_SHORT_PARTICLES: Final = frozenset(_listed("은 이 가 을 에 도 만 로 으로 처럼 보다"))
_JOINERS: Final = frozenset("和与跟及同與と・や、나랑와과")
_SOMEBODY = re.compile(
    "(?<=[\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff])(?<![母父兄姉皆])(?:さん|さま|くん|ちゃん)"
)
CLEAR_FROM: Final = 3
"""Characters from which a Hangul name may carry any particle: some make another name of a shorter one."""


def is_clear(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]`, a name in a script without spaces, stands alone: not as a part of a longer
    name, and not listed together with something else."""
    return _left(text, start) and _right(text, start, end)


def others(text: str, known: set[int]) -> bool:
    """Whether a Japanese form of address follows something else than the names that end at `known`."""
    return any(match.start() not in known for match in _SOMEBODY.finditer(text))


def _left(text: str, start: int) -> bool:
    before = text[start - 1] if start else " "
    if before in _JOINERS or text[max(start - 2, 0) : start].strip() in _JOINERS:
        return False
    first = text[start]
    if _HAN.match(first) and _HAN.match(before):
        return before in _BEFORE_HAN
    same = next((script for script in (_HIRAGANA, _KATAKANA, _HANGUL) if script.match(first)), None)
    return same is None or not same.match(before)


def _right(text: str, start: int, end: int) -> bool:
    after = text[end : end + 1] or " "
    if after in _JOINERS or text[end : end + 2].strip() in _JOINERS:
        return False
    last = text[end - 1]
    if _HANGUL.match(last):
        return _particle(text, start, end)
    if _HAN.match(last) and _HAN.match(after):
        return text.startswith(_AFTER_HAN, end)
    if _KATAKANA.match(last):
        return not _KATAKANA.match(after)
    return not (_HIRAGANA.match(last) and _HIRAGANA.match(after)) or text.startswith(_AFTER_KANA, end)


def _particle(text: str, start: int, end: int) -> bool:
    match = _HANGUL_RUN.match(text, end)
    rest = "" if match is None else match.group()
    return not rest or rest in _PARTICLES or (end - start >= CLEAR_FROM and rest in _SHORT_PARTICLES)
