"""Words of comparison, scope and obligation that a claim turns round or adds."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evidencedesk.verification.alternation import alternatives
from evidencedesk.verification.polarity import negations

_PAIRS = """
more|over|above : fewer|less|under|below
at least|minimum|no less than|mindestens|al menos|au moins : at most|maximum|no more than|not exceed|up to|höchstens|maximal|como máximo|au plus
before|until|prior to|by(?= (?:\\d|the end|noon|midnight))|vor|antes|avant : after|following|nach|después|après
increas\\w+|ris(?:e|es|en|ing)|rose|gr[eo]w\\w*|gain\\w*|climb\\w*|steig\\w*|stieg\\w* : decreas\\w+|fall(?:s|en|ing)?|fell|declin\\w+|dropp?(?:ed|s|ing)?|shrank|shrunk|sank|sink\\w*|fiel\\w*
rais(?:e|es|ed)|improv\\w+ : lower(?:s|ed)|reduc(?:e|es|ed)|worsen\\w*|deteriorat\\w+
higher|greater|larger|bigger|longer|taller|faster|stronger|höher|größer : lower|smaller|shorter|slower|weaker|niedriger|kleiner
earlier|früher : later|später
earliest|first|oldest : latest|last(?! (?:year|quarter|month|week|night|time))|newest|youngest
highest|largest|biggest|longest|most|best|fastest : lowest|smallest|shortest|least|fewest|worst|slowest
begins?|began|starts?|started|opens?|opened|beginnt|begann : ends?|ended|clos(?:e|es|ed)|finish(?:es|ed)?|endet|endete
always|immer|siempre|toujours : sometimes|occasionally|rarely|seldom|usually|manchmal
exactly|precisely|genau : about|approximately|around|roughly|nearly|almost|circa|ca|etwa|ungefähr|rund
inside|within|innerhalb : outside|beyond|außerhalb
mandatory|compulsory|required|obligatory|verpflichtend : optional|voluntary|freiwillig
accept(?:s|ed)?|approv(?:e|es|ed) : reject(?:s|ed)?|refus(?:e|es|ed)|den(?:y|ies|ied)
agree[ds]?|confirm(?:s|ed) : disput(?:e|es|ed)|disagree[ds]?|contest(?:s|ed)
free|kostenlos|gratis : paid|chargeable|kostenpflichtig
morning|morgens : evening|afternoon|night|abends
internal|intern : external|extern
public|öffentlich : private|privat
enabl(?:e|es|ed) : disabl(?:e|es|ed)
add(?:s|ed)?|introduc(?:e|es|ed) : remov(?:e|es|ed)|drop(?:s|ped)?
full-time|vollzeit : part-time|teilzeit
buy|buys|bought|purchas(?:e|es|ed) : sell|sells|sold
north\\w* : south\\w*
eastern|east : western|west
left : right
weekdays? : weekends?
live|alive : dead|died
upper|top : lower|bottom
import(?:s|ed)? : export(?:s|ed)?
"""

_MUST = re.compile(
    r"\b(?:must|shall|have to|has to|is required to|are required to|obliged|muss|müssen|debe|deben|doit|doivent)\b"
)
_DUTY = re.compile(
    r"\b(?:must|shall|have to|has to|need\w*|required?|requires|requirement|mandatory|obliged|obligat\w+|should|only"
    r"|will|muss|müssen|pflicht\w*|debe\w*|doit|doivent|obligatori\w+|limited|expire)\b"
)
_MAY = re.compile(
    r"\b(?:may|can|could|might|optional\w*|voluntar\w+|allowed|permitted|entitled|kann|können|darf|dürfen|puede\w*|peut|peuvent)\b"
)
_ONLY = re.compile(
    r"\b(?:only|solely|exclusively|nur|ausschließlich|solo|sólo|solamente|únicamente|seulement|uniquement|solamente|soltanto|apenas)\b"
)
_LIMIT = re.compile(
    r"\b(?:only|solely|exclusively|just|alone|limited|restricted|except\w*|exclusive|single|sole|unless|no other|not|no|reserved"
    r"|maximum|at most|up to|must|nur|ausschließlich|einzig\w*|lediglich|solo|sólo|solamente|únicamente|seulement|uniquement"
    r"|ne|que|soltanto|apenas)\b"
)
_EVERY = re.compile(
    r"\b(?:all|every|everyone|everybody|any|each|always|alle[nrms]?|jede[nrms]?|todos|todas|tous|toutes|tutti|tutte)\b"
)
_SOME = re.compile(
    r"\b(?:some|most|many|several|(?<!a )few|certain|only|partly|part of|half|einige\w*|manche\w*|viele|algunos|algunas|certain(?:s|es)|alcuni|only)\b"
)


def _compiled() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    sides = [line.split(" : ") for line in _PAIRS.strip().splitlines()]
    return tuple(
        (re.compile(rf"\b(?:{one})\b"), re.compile(rf"\b(?:{other})\b")) for one, other in sides
    )


_HEAD = 3
_SHORTEST_HEAD = 2
_LETTERS = re.compile(r"[^\W\d_]+")
_OPTIONAL = re.compile(r"[^\W\d_]?[?*\[(].*|\\.*")
_CONTRASTS = _compiled()


def _sides_of(pair: tuple[re.Pattern[str], re.Pattern[str]]) -> list[str]:
    return [side.pattern.removeprefix(r"\b(?:").removesuffix(r")\b") for side in pair]


def turned_word(said: str, told: str) -> str | None:
    """A word of the claim whose opposite alone stands in its source, with that opposite; or None.

    Where one side negates and the other does not, opposites may well say the same and are let pass.

    Args:
        said: the claim, folded.
        told: the sentences that its quotes stand in, folded.
    """
    turned = (
        _turned(said, told, one, other) or _turned(said, told, other, one)
        for one, other in _possible(said)
    )
    found = next(filter(None, turned), None)
    if found and (negations(said) % 2 == negations(told) % 2 or negations(said) == 0):
        return found
    return _added_scope(said, told)


class _Openings:
    """Which pairs may stand in a text, by the beginnings of its words."""

    def __init__(self) -> None:
        self.words: dict[str, set[int]] = {}
        self.heads: dict[str, set[int]] = {}

    def add(self, number: int, side: str) -> None:
        """Note the pair ``number`` under the first word of each alternative, or its beginning."""
        for written in alternatives(side):
            found = _LETTERS.match(_OPTIONAL.sub("", written))
            if found is None:
                continue
            whole = found.end() == len(written) or written[found.end()] in " -"
            if whole and found.end() >= _SHORTEST_HEAD:
                self.words.setdefault(found[0], set()).add(number)
            else:
                self.heads.setdefault(found[0][:_HEAD], set()).add(number)

    def pairs(self, words: Iterable[str]) -> list[int]:
        """Numbers of the pairs of which one of ``words`` may be the first, in order."""
        numbers: set[int] = set()
        for word in words:
            for found in (
                self.words.get(word),
                self.heads.get(word[:_SHORTEST_HEAD]),
                self.heads.get(word[:_HEAD]),
            ):
                if found:
                    numbers |= found
        return sorted(numbers)


def _opened() -> _Openings:
    openings = _Openings()
    for number, pair in enumerate(_CONTRASTS):
        for side in _sides_of(pair):
            openings.add(number, side)
    return openings


_OPENINGS = _opened()


def _possible(said: str) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """The pairs of which a word may stand in ``said``; tells most of them apart by their words."""
    return [_CONTRASTS[number] for number in _OPENINGS.pairs(set(_LETTERS.findall(said)))]


def _turned(said: str, told: str, one: re.Pattern[str], other: re.Pattern[str]) -> str | None:
    word = one.search(said)
    if word is None or other.search(said) or one.search(told):
        return None
    opposite = other.search(told)
    return f"{word[0]!r} where the source says {opposite[0]!r}" if opposite else None


def _added_scope(said: str, told: str) -> str | None:
    must = _MUST.search(said)
    if must and not _DUTY.search(told) and _MAY.search(told):
        return f"{must[0]!r} where the source leaves it open"
    only = _ONLY.search(said)
    if only and not _LIMIT.search(told):
        return f"{only[0]!r} where the source sets no such limit"
    every = _EVERY.search(said)
    some = _SOME.search(told)
    if every and some and not _EVERY.search(told) and not _SOME.search(said):
        return f"{every[0]!r} where the source says {some[0]!r}"
    return None
