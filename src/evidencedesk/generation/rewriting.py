"""A follow-up question, rewritten by rules so that it stands alone.

What a person leaves out in a conversation comes from the question before, as that stood alone:
``And for part-timers?`` after ``How much leave do employees get?`` is ``How much leave do part-timers
get?``. A question that stands alone already is left as it is. Answers are never looked at: whatever a
document says, it cannot put words into a question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evidencedesk.generation.question_phrases import (
    Phrase,
    Role,
    Word,
    grammar_of,
    phrases,
    words_of,
)
from evidencedesk.generation.question_words import UNPARSED, Grammar

REMEMBERED = 8
"""Earlier questions that are looked at, the latest ones."""

_MARK = re.compile(r"[\s?？.!।؟]+\Z")
_LONGEST_FRAGMENT = 3
_DEMONSTRATIVES = frozenset(
    {"this", "that", "these", "those", "such", "diese", "dieser", "dieses", "diesen", "diesem"}
)
_EXPLETIVE = re.compile(
    r"\bit\s+(?:be\s+)?(?:possible|allowed|permitted|ok(?:ay)?|necessary|safe|legal|mandatory"
    r"|required|worth|takes?|costs?|mean)\s+\w|\bit (?:is|was) \w+ (?:to|that)\b"
    r"|\b(?:does|will|did) it (?:rain|snow|matter)\b|\bwhat time is it\b|\b(?:gibt es|es gibt)\b",
    re.IGNORECASE,
)


def standalone(question: str, earlier: Sequence[str], max_chars: int = 2000) -> str:
    """``question`` as it would be asked without the conversation.

    Args:
        question: what was asked last.
        earlier: what was asked before, oldest first, as typed.
        max_chars: a longer rewriting is not made.

    Returns:
        The question itself when it stands alone, or when nothing was asked before.
    """
    before = ""
    for one in earlier[-REMEMBERED:]:
        asked = _bounded(one.strip(), before, max_chars)
        before = asked if not before or _asks(asked) else before
    return _bounded(question.strip(), before, max_chars)


def _bounded(question: str, before: str, max_chars: int) -> str:
    rewritten = _after(question, before) if before else question
    return rewritten if len(rewritten) <= max_chars else question


def _asks(text: str) -> bool:
    """Whether it is a question; ``thanks`` changes no topic."""
    grammar = grammar_of(text)
    asking = grammar.asking | grammar.auxiliaries
    return "?" in text or any(word.low in asking for word in words_of(text))


def _after(question: str, before: str) -> str:
    grammar = grammar_of(before, question)
    same = grammar.same.fullmatch(question)
    if same is not None:
        return _with_fragment(before, same["rest"], grammar)
    lead = grammar.leads.match(question)
    rest = question[lead.end() :] if lead else question
    words = words_of(rest)
    if not words or _asks_barely(words, grammar):
        return _barely(rest, before, grammar) if words else question
    if _is_fragment(rest, words, grammar, led=lead is not None):
        return _with_fragment(before, _MARK.sub("", rest), grammar)
    return _with_pronouns(rest, before, grammar)


def _asks_barely(words: Sequence[Word], grammar: Grammar) -> bool:
    """``Why?``, ``Since when?``: a word that asks, and nothing that is asked about."""
    return (
        any(word.low in grammar.asking for word in words)
        and all(word.low in grammar.asking | grammar.prepositions for word in words)
        and len(words) <= _LONGEST_FRAGMENT
    )


def _is_fragment(rest: str, words: Sequence[Word], grammar: Grammar, *, led: bool) -> bool:
    """Whether it is no sentence: nothing in it asks, and no verb opens it."""
    if words[0].low in grammar.asking | grammar.auxiliaries - grammar.determiners:
        return False
    if led:
        return grammar is UNPARSED or not any(word.low in grammar.asking for word in words)
    asks = any(word.low in grammar.asking | grammar.auxiliaries for word in words)
    if asks or grammar is UNPARSED or not rest.rstrip().endswith(("?", "？")):
        return False
    tied = words[0].low in grammar.prepositions
    return len(words) <= _LONGEST_FRAGMENT * (2 if tied else 1)


def _barely(rest: str, before: str, grammar: Grammar) -> str:
    words = words_of(before)
    opening = next((word.start for word in words if word.low in grammar.auxiliaries), 0)
    return f"{_MARK.sub('', rest)} {before[opening:]}"


def _with_fragment(before: str, fragment: str, grammar: Grammar) -> str:
    """The question before, with ``fragment`` in the place of what it had there."""
    first = next(iter(words_of(fragment)), None)
    if first is not None and first.low in grammar.prepositions:
        return _with_tied(before, fragment, first, grammar)
    if first is not None and first.low in grammar.joining:
        return f"{_MARK.sub('', before)} {fragment}?"
    open_to = _replaceable(before, fragment, grammar)
    if open_to is None:
        return _appended(before, fragment, grammar)
    return before[: open_to.start] + fragment + before[open_to.end :]


def _with_tied(before: str, fragment: str, tie: Word, grammar: Grammar) -> str:
    """``for part-timers``: instead of another ``for``, else of the subject, else at the end."""
    found = phrases(before, grammar)
    same = [one for one in found if one.role is Role.TIED and one.governor == tie.low]
    if same:
        return before[: same[-1].governor_start] + fragment + before[same[-1].end :]
    subjects = [one for one in found if one.role is Role.SUBJECT and not one.determined]
    bare = fragment[tie.end :].strip()
    if tie.low in {"for", "für", "pour", "para", "per", "voor"} and subjects and bare:
        return before[: subjects[0].start] + bare + before[subjects[0].end :]
    return f"{_MARK.sub('', before)} {fragment}?"


def _replaceable(before: str, fragment: str, grammar: Grammar) -> Phrase | None:
    """The phrase that ``fragment`` takes the place of: the last that is of its kind, if any."""
    if grammar is UNPARSED:
        return None
    found = [one for one in phrases(before, grammar) if one.role is not Role.ASKED]
    counted = any(map(str.isdigit, fragment))
    alike = [one for one in found if _is_counted(before, one) == counted]
    if not alike:
        return None
    last = alike[-1]
    subject = next((one for one in alike if one.role is Role.SUBJECT and not one.determined), None)
    if subject is not None and last.role is Role.TIED and last.determined:
        return subject
    alone = len(found) == 1 and last.role is Role.SUBJECT and last.determined
    return None if alone and _MARK.sub("", before).endswith(before[last.start : last.end]) else last


def _is_counted(text: str, phrase: Phrase) -> bool:
    return any(map(str.isdigit, text[phrase.start : phrase.end]))


def _appended(before: str, fragment: str, grammar: Grammar) -> str:
    joined = "," if "for" not in grammar.prepositions else " for"
    return f"{_MARK.sub('', before)}{joined} {fragment}?"


def _with_pronouns(question: str, before: str, grammar: Grammar) -> str:
    """``question`` with what the question before was about where a pronoun stands for it."""
    if _EXPLETIVE.search(question):
        return question
    topic = _topic(before, grammar)
    words = words_of(question)
    for index, word in enumerate(words):
        if word.low not in grammar.pronouns or not _stands_for(words, index, grammar):
            continue
        if _has_own_topic(question[: word.start], grammar):
            return question
        if topic is None:
            return f"{_MARK.sub('', question)} ({_MARK.sub('', before)})?"
        if word.low in _DEMONSTRATIVES and _is_noun(words, index + 1, grammar):
            return _specified(question, word, words[index + 1], topic)
        possessive = "'s" if word.low == "its" else ""
        return question[: word.start] + topic + possessive + question[word.end :]
    return question


def _stands_for(words: Sequence[Word], index: int, grammar: Grammar) -> bool:
    """Not a conjunction (``say that``), and not an article (``das Fahrrad``)."""
    word = words[index].low
    if word in grammar.determiners:
        return not _is_noun(words, index + 1, grammar)
    if word not in _DEMONSTRATIVES or index == 0:
        return True
    return words[index - 1].low in grammar.small or not _is_noun(words, index - 1, grammar)


def _is_noun(words: Sequence[Word], index: int, grammar: Grammar) -> bool:
    return 0 <= index < len(words) and words[index].low not in grammar.small


def _has_own_topic(opening: str, grammar: Grammar) -> bool:
    return any(one.role is not Role.ASKED for one in phrases(opening, grammar))


def _topic(before: str, grammar: Grammar) -> str | None:
    """What a question is about: its last noun phrase with all that is tied to it."""
    found = [one for one in phrases(before, grammar) if one.role is not Role.ASKED]
    heads = [one for one in found if one.role is not Role.TIED] or found
    if not heads:
        return None
    end = heads[-1].end
    for one in found:
        if one.role is Role.TIED and not before[end : one.governor_start].strip():
            end = one.end
    return before[heads[-1].start : end]


def _specified(question: str, this: Word, noun: Word, topic: str) -> str:
    """``this fee`` as ``the fee for late cancellation``, or as a fee beside what it was about."""
    if question[noun.start : noun.end].lower() in topic.lower():
        return question[: this.start] + topic + question[noun.end :]
    return f"{question[: noun.end]} ({topic}){question[noun.end :]}"
