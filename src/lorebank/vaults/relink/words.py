"""Words that are written with a capital without naming anybody. The lists are ours (docs/knowledge.md).

A capitalised word that is in none of them and names no page counts as a name that nobody knows, and keeps a
claim unlinked. To leave a word out costs a link; to list a name here could cost a wrong one.
"""

from __future__ import annotations

import re
from typing import Final

from lorebank.search.stopwords import STOP_WORDS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OPENERS: Final = STOP_WORDS | _words(
    """
    also although another anyway apparently asked agreed already always because besides both called
    currently decided decision due during either eventually everybody everyone everything fact finally
    first following former formerly generally got having heard hello hired however if instead introduced
    invited just last lately later learned let likes maybe meanwhile meeting met moreover most mostly
    nearly neither never nobody none note noted notes nothing now obviously occasionally often once one
    only originally otherwise our people per perhaps please possibly preference prefers previously
    probably rarely recently remember reminder reportedly said saw several she since so some somebody
    someone something sometimes soon spoke still such sure talked thanks that then there therefore these
    this those though thus today tomorrow tonight told two unfortunately unless until update usually
    very visited wants we when whenever where whereas whether which while who whoever whose why will
    with within without yes yesterday yet you your
    """
)
"""Common words that may stand before a name at the beginning of a sentence without being part of it."""

COMMON: Final = _words(
    """
    i im ive ill id a an the ok okay tv am pm bc ad aka asap eta eod tbd fyi rsvp faq diy vip id ids no
    yes mondays tuesdays wednesdays thursdays fridays saturdays sundays monday tuesday wednesday
    thursday friday saturday sunday mon tue wed thu fri sat sun january february march april may june
    july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
    spring summer autumn winter christmas easter halloween thanksgiving ramadan hanukkah diwali english
    german french spanish italian portuguese dutch danish swedish norwegian finnish polish czech russian
    ukrainian turkish greek arabic hebrew hindi chinese mandarin cantonese japanese korean vietnamese
    thai latin european american british african asian australian canadian mexican brazilian indian
    irish scottish welsh internet web earth god wifi usb gps sms pdf csv json yaml xml html css http
    https url uri sql kb mb gb tb cpu gpu ram ssd usd eur gbp jpy chf cny inr utc gmt cet cest est edt
    pst pdt mr mrs ms miss dr prof sir madam lord lady mx
    """
)
"""Days, months, feasts, languages and peoples, units, forms of address."""

ROLES: Final = _words(
    """
    ceo cfo cto coo cmo cio cpo cso ciso vp svp evp md gm hr it pr qa ux ui pm po ml ai llm rd sre
    devops api apis sdk cli crm erp kpi kpis okr okrs roi b2b b2c saas arr mrr nda sla sow rfp rfq ipo
    gdpr vat chief executive officer director manager president chairman chairwoman chair founder
    cofounder owner partner head lead senior junior principal staff engineer engineers developer
    designer architect analyst consultant assistant secretary accountant lawyer doctor nurse teacher
    professor intern colleague customer client vendor supplier user users agent admin administrator
    operator team teams board department division office sales marketing engineering finance legal
    operations support product design research security company project quarter series phase version
    sprint milestone release beta alpha
    """
)
"""Roles and terms of business, which are capitalised as a matter of style."""

UNNAMED: Final = COMMON | ROLES
"""What is never taken for a name, wherever it stands."""

_NUMBERED = re.compile(r"q[1-4]|h[12]|fy\d{2,4}|[vw]\d+|\d+[a-z]{1,3}|\d+")

BEFORE_PERIOD: Final = _words("mr mrs ms dr prof st sr jr vs etc inc ltd co corp no nr approx ca cf fig")
"""Abbreviations: a period behind them ends no sentence. Single letters count as well."""


def is_unnamed(word: str) -> bool:
    """Whether a capitalised word (casefolded) never stands for a name: a listed one, a single letter of an
    alphabet, a quarter, a version, a measure."""
    return len(word) == 1 or word in UNNAMED or _NUMBERED.fullmatch(word) is not None
