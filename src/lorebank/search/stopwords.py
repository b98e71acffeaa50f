"""Words that carry no subject, dropped from queries (never from the index). Own short lists, casefolded and
folded.
"""

from __future__ import annotations

from typing import Final

_ENGLISH = """
a an the and or but if then of to in on at for with from by as is are was were be been being am do does
did done have has had having i you he she it we they me him her us them my your his its our their this
that these those there here what which who whom whose when where why how not no nor so than too very can
could will would shall should may might must about into over under again just also any all some each other
up down out off only own same such don didn doesn isn wasn aren won tell please
"""
_GERMAN = """
der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren sein hat haben
hatte hatten ich du er sie es wir ihr mich mir dich dir ihn ihm uns euch mein dein sein wer was wann wo
wie warum welche welcher welches nicht kein keine mit von zu zum zur im am auf fur bei nach aus als auch
wird werden wurde
"""
_ROMANCE = """
le la les un une des du de et ou est sont qui que quoi quand ou comment pourquoi quel quelle dans avec
pour sur el los las una unos unas y es son quien cuando donde como por para con del al se su sus
"""
_TURKISH = "ve veya bir bu su o ne kim nerede nasil neden icin ile mi mu da ki"
_ARABIC = "من ما في على الى عن هل متى اين كيف لماذا هو هي هذا هذه التي الذي ان او"

STOP_WORDS: Final[frozenset[str]] = frozenset(
    word for words in (_ENGLISH, _GERMAN, _ROMANCE, _TURKISH, _ARABIC) for word in words.split()
)
