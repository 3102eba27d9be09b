"""Checking a claim against its quotes: supported, contradicted, or neither by these rules.

The rules are fences, not proof. A claim is *extractive* when nearly all of it stands in its quotes,
in the same order, and no rule fired; *contradicted* when a number, date or unit is not there, when one side negates what
the other says, when a name, comparison or scope is not there; *open* otherwise: a paraphrase with a
true quote, which only a judge can decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from evidencedesk.model import Reason
from evidencedesk.text.folding import fold_text
from evidencedesk.text.numbers import quantities
from evidencedesk.text.quantity import Quantities
from evidencedesk.text.scripts import script_shares
from evidencedesk.verification.amounts import Present, missing_amounts
from evidencedesk.verification.content import content_words, coverage, in_order
from evidencedesk.verification.contrasts import turned_word
from evidencedesk.verification.fragments import stray_fragment
from evidencedesk.verification.markdown import without_marks
from evidencedesk.verification.names import competing_names, missing_names
from evidencedesk.verification.passages import Passage, language_of
from evidencedesk.verification.polarity import contradicts
from evidencedesk.verification.swaps import swapped_value

NEARLY_ALL = 0.9
"""Share of a claim's content words that must stand in its quotes for it to be extractive."""

_FEWEST_WORDS = 3
_NAME_WORD = re.compile(r"\w+")


class Band(StrEnum):
    """How far the rules alone get with a claim."""

    EXTRACTIVE = "extractive"
    CONTRADICTED = "contradicted"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """One rule's outcome.

    Attributes:
        check: stable name: ``numbers``, ``values``, ``polarity``, ``comparison``, ``names``,
            ``content``, ``fragment``.
        passed: whether the claim passed.
        reason: the reason of a claim that did not pass.
        detail: what was compared; None when there is nothing to add.
    """

    check: str
    passed: bool
    reason: Reason
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class ClaimFinding:
    """What the rules found.

    Attributes:
        band: where the claim stands.
        coverage: share of its content words in its quotes and their sentences, in [0, 1].
        outcomes: every rule's outcome, in the order checked.
    """

    band: Band
    coverage: float
    outcomes: tuple[RuleOutcome, ...]

    @property
    def failure(self) -> RuleOutcome | None:
        """The first rule that the claim did not pass."""
        return next((outcome for outcome in self.outcomes if not outcome.passed), None)


@dataclass(frozen=True)
class _Claim:
    """A claim beside its passages, each read at most once."""

    text: str
    passages: Sequence[Passage]
    question: str = ""

    @cached_property
    def lang(self) -> str:
        return language_of(self.passages)

    @cached_property
    def sentences(self) -> list[str]:
        return [passage.sentence for passage in self.passages]

    @cached_property
    def folded(self) -> str:
        return fold_text(self.text)

    @cached_property
    def told(self) -> str:
        """The sentences in one."""
        return " ".join(self.sentences)

    @cached_property
    def told_folded(self) -> str:
        return fold_text(self.told)

    @cached_property
    def sentences_folded(self) -> list[str]:
        if len(self.sentences) == 1:
            return [self.told_folded]
        return [fold_text(sentence) for sentence in self.sentences]

    @cached_property
    def quantities(self) -> Quantities:
        comma_decimal = any(passage.comma_decimal for passage in self.passages)
        return quantities(self.text, comma_decimal=comma_decimal)

    @cached_property
    def coverage(self) -> float:
        return coverage(self.text, self.told, self.lang)

    @property
    def is_extract(self) -> bool:
        """Whether nearly all of it stands in its quotes, and in the same order: who did what to whom."""
        if self.is_repeated:
            return True
        covered = self.coverage >= NEARLY_ALL
        return covered and in_order(self.text, self.told, self.lang) >= NEARLY_ALL

    @cached_property
    def is_repeated(self) -> bool:
        """Whether the claim is one of the quotes word for word, Markdown marks aside."""
        wanted = self.folded.strip(" .")
        quotes = [passage.quote for passage in self.passages]
        told = dict.fromkeys((*quotes, *map(without_marks, quotes)))
        return any(fold_text(quote).strip(" .") == wanted for quote in told)


def check_claim(text: str, passages: Sequence[Passage], question: str = "") -> ClaimFinding:
    """What the rules say of a claim beside its passages. A pure function, without a model.

    Args:
        text: the claim.
        passages: its quotes, each in its surroundings.
        question: what was asked; it tells a short answer from a stray word.
    """
    claim = _Claim(text, passages, question)
    outcomes = tuple(_outcome(claim, rule) for rule in _RULES)
    if not all(outcome.passed for outcome in outcomes):
        band = Band.CONTRADICTED
    else:
        band = Band.EXTRACTIVE if claim.is_extract else Band.OPEN
    return ClaimFinding(band, claim.coverage, outcomes)


def _outcome(claim: _Claim, rule: tuple[str, Reason, _Rule]) -> RuleOutcome:
    """One rule's outcome; a claim that repeats a quote word for word passes every rule."""
    name, reason, contradiction = rule
    detail = None if claim.is_repeated else contradiction(claim)
    return RuleOutcome(name, detail is None, reason, detail)


def _numbers(claim: _Claim) -> str | None:
    missing = missing_amounts(claim.quantities, Present(claim.passages))
    return f"not in the quotes: {', '.join(missing)}" if missing else None


def _values(claim: _Claim) -> str | None:
    value = swapped_value(claim.quantities, claim.passages, claim.lang)
    return f"{value} belongs to something else in the source" if value else None


def _polarity(claim: _Claim) -> str | None:
    clause = contradicts(claim.folded, claim.sentences_folded, claim.lang)
    return f"negated on one side only: {clause!r}" if clause else None


def _comparison(claim: _Claim) -> str | None:
    return turned_word(claim.folded, claim.told_folded)


def _names(claim: _Claim) -> str | None:
    """A name may come from the question where the quoted sentences name nobody else."""
    support = " ".join(f"{passage.sentence} {passage.framing}" for passage in claim.passages)
    missing = missing_names(claim.text, support, claim.lang)
    if missing and not competing_names(claim.text, claim.told):
        asked = frozenset(_NAME_WORD.findall(claim.question.casefold()))
        missing = tuple(one for one in missing if not asked.issuperset(_bare_name(one.name)))
    return f"the name {missing[0].name!r} is not in the source" if missing else None


def _bare_name(name: str) -> list[str]:
    return _NAME_WORD.findall(re.sub(r"['’]s?$", "", name.casefold()))


def _content(claim: _Claim) -> str | None:
    """Nothing of the claim, no word and no number, is there, though both are in one script."""
    if claim.coverage > 0 or any(not one.weak for one in claim.quantities.found):
        return None
    if len(content_words(claim.text, claim.lang)) < _FEWEST_WORDS:
        return None
    if _main_script(claim.text) != _main_script(claim.told):
        return None
    return "no content word of the claim stands in its quotes"


def _fragment(claim: _Claim) -> str | None:
    stray = stray_fragment(claim.quantities, claim.passages, claim.question, claim.lang)
    return f"{stray!r} is not said of what was asked" if stray else None


def _main_script(text: str) -> str:
    return next(iter(script_shares(text)), "")


_Rule = Callable[[_Claim], str | None]
_RULES: tuple[tuple[str, Reason, _Rule], ...] = (
    ("numbers", Reason.UNSUPPORTED_NUMBER, _numbers),
    ("values", Reason.UNSUPPORTED_NUMBER, _values),
    ("polarity", Reason.UNSUPPORTED_CLAIM, _polarity),
    ("comparison", Reason.UNSUPPORTED_CLAIM, _comparison),
    ("names", Reason.UNSUPPORTED_CLAIM, _names),
    ("content", Reason.UNSUPPORTED_CLAIM, _content),
    ("fragment", Reason.UNSUPPORTED_CLAIM, _fragment),
)
