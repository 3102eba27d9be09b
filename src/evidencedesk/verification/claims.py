"""Checking a claim against its quotes: supported, contradicted, or neither by these rules.

The rules are fences, not proof. A claim is *extractive* when nearly all of it stands in its quotes
and no rule fired; *contradicted* when a number, date or unit is not there, when one side negates what
the other says, when a name, comparison or scope is not there; *open* otherwise: a paraphrase with a
true quote, which only a judge can decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evidencedesk.model import Reason
from evidencedesk.text.folding import fold_text
from evidencedesk.text.numbers import quantities
from evidencedesk.text.scripts import script_shares
from evidencedesk.verification.amounts import Present, missing_amounts
from evidencedesk.verification.content import content_words, coverage
from evidencedesk.verification.contrasts import turned_word
from evidencedesk.verification.names import missing_name
from evidencedesk.verification.passages import Passage, language_of
from evidencedesk.verification.polarity import contradicts
from evidencedesk.verification.swaps import swapped_value

NEARLY_ALL = 0.9
"""Share of a claim's content words that must stand in its quotes for it to be extractive."""

_FEWEST_WORDS = 3


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
            ``content``.
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


def check_claim(claim: str, passages: Sequence[Passage]) -> ClaimFinding:
    """What the rules say of ``claim`` beside its passages. A pure function, without a model."""
    lang = language_of(passages)
    sentences = [passage.sentence for passage in passages]
    if _repeats(claim, sentences):
        passed = tuple(RuleOutcome(name, True, reason) for name, reason, _ in _RULES)  # noqa: FBT003
        return ClaimFinding(Band.EXTRACTIVE, 1.0, passed)
    covered = coverage(claim, " ".join(sentences), lang)
    outcomes = tuple(
        RuleOutcome(name, detail is None, reason, detail)
        for name, reason, rule in _RULES
        for detail in [rule(claim, passages, lang)]
    )
    if not all(outcome.passed for outcome in outcomes):
        band = Band.CONTRADICTED
    else:
        band = Band.EXTRACTIVE if covered >= NEARLY_ALL else Band.OPEN
    return ClaimFinding(band, covered, outcomes)


def _repeats(claim: str, sentences: Sequence[str]) -> bool:
    """Whether the claim is one of the sentences word for word."""
    wanted = fold_text(claim).strip(" .")
    return any(fold_text(sentence).strip(" .") == wanted for sentence in sentences)


def _numbers(claim: str, passages: Sequence[Passage], _lang: str) -> str | None:
    comma_decimal = any(passage.comma_decimal for passage in passages)
    missing = missing_amounts(claim, Present(passages), comma_decimal=comma_decimal)
    return f"not in the quotes: {', '.join(missing)}" if missing else None


def _values(claim: str, passages: Sequence[Passage], lang: str) -> str | None:
    value = swapped_value(claim, [passage.sentence for passage in passages], lang)
    return f"{value} belongs to something else in the source" if value else None


def _polarity(claim: str, passages: Sequence[Passage], lang: str) -> str | None:
    clause = contradicts(claim, [passage.sentence for passage in passages], lang)
    return f"negated on one side only: {clause!r}" if clause else None


def _comparison(claim: str, passages: Sequence[Passage], _lang: str) -> str | None:
    return turned_word(claim, [passage.sentence for passage in passages])


def _names(claim: str, passages: Sequence[Passage], lang: str) -> str | None:
    support = " ".join(f"{passage.sentence} {passage.framing}" for passage in passages)
    name = missing_name(claim, support, lang)
    return f"the name {name!r} is not in the source" if name else None


def _content(claim: str, passages: Sequence[Passage], lang: str) -> str | None:
    """Nothing of the claim, no word and no number, is in its passages, though both share a script."""
    support = " ".join(passage.sentence for passage in passages)
    if _main_script(claim) != _main_script(support):
        return None
    words = content_words(claim, lang)
    if len(words) < _FEWEST_WORDS or coverage(claim, support, lang) > 0:
        return None
    if any(not one.weak for one in quantities(claim).found):
        return None
    return "no content word of the claim stands in its quotes"


def _main_script(text: str) -> str:
    return next(iter(script_shares(text)), "")


_Rule = Callable[[str, Sequence[Passage], str], str | None]
_RULES: tuple[tuple[str, Reason, _Rule], ...] = (
    ("numbers", Reason.UNSUPPORTED_NUMBER, _numbers),
    ("values", Reason.UNSUPPORTED_NUMBER, _values),
    ("polarity", Reason.UNSUPPORTED_CLAIM, _polarity),
    ("comparison", Reason.UNSUPPORTED_CLAIM, _comparison),
    ("names", Reason.UNSUPPORTED_CLAIM, _names),
    ("content", Reason.UNSUPPORTED_CLAIM, _content),
)
