"""Small words of questions, by the part they play, in the languages whose follow-ups are rewritten."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the small words of one language do; all lower case.

    Attributes:
        asking: words that ask (``which``), with those that only stand beside them (``many``).
        auxiliaries: verbs that say nothing of the matter.
        determiners: words that open a noun phrase.
        prepositions: words that tie a noun phrase to what stands before.
        subjects: pronouns that stand for whoever asks; a verb follows.
        pronouns: words that stand for something said before.
        joining: conjunctions and adverbs.
        leads: what opens a follow-up that leaves out what was asked before.
        same: a whole follow-up that asks whether the same holds of something else, in a group.
        capital_nouns: whether every noun is written with a capital.
    """

    asking: frozenset[str]
    auxiliaries: frozenset[str]
    determiners: frozenset[str]
    prepositions: frozenset[str]
    subjects: frozenset[str]
    pronouns: frozenset[str]
    joining: frozenset[str]
    leads: re.Pattern[str]
    same: re.Pattern[str]
    capital_nouns: bool = False

    @property
    def small(self) -> frozenset[str]:
        """Every word that names no matter."""
        return (
            self.asking
            | self.auxiliaries
            | self.determiners
            | self.prepositions
            | self.subjects
            | self.pronouns
            | self.joining
        )


def _leads(*phrases: str) -> re.Pattern[str]:
    return re.compile(rf"[¿\s]*(?:{'|'.join(phrases)})(?:[\s,:]+|(?=[?？]|$))", re.IGNORECASE)


def _same(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"[¿\s]*(?:{pattern})\s*[?？]*\s*", re.IGNORECASE)


_NEVER = re.compile(r"(?!)")

_ENGLISH = Grammar(
    asking=_words(
        "what which who whom whose when where why how long much many often soon far come what's"
    ),
    auxiliaries=_words(
        "is are was were am be been being do does did can could may might must shall should will"
        " would has have had get gets got need needs happen happens apply applies isn't aren't don't"
        " doesn't didn't can't won't"
    ),
    determiners=_words("a an the my our your his their any some every each all no another"),
    prepositions=_words(
        "for of in on at by with without within under over above below before after during between"
        " from about into to per as than until till since towards against"
    ),
    subjects=_words("i we you one me us"),
    pronouns=_words("it they them he she him its this that these those"),
    joining=_words(
        "and or but if also too then so not only there please tell because when either just still"
    ),
    leads=_leads(
        "(?:and |but |so |ok(?:ay)?,? (?:and )?)?(?:what|how) about",
        "(?:and|but|or) what if",
        "(?:and|but|so) (?:also )?what of",
        "ok(?:ay)?,? and",
        "and also",
        "(?:the )?same for",
        "and",
        "but",
        "or",
        "also",
        "what if",
    ),
    same=_same(
        r"(?:(?:and|but|so),?\s+)?(?:is|are|does|do|did|will|would)\s+(?:this|that|it|those|these|the same)"
        r"(?:\s+(?:also|too|still))*(?:\s+(?:true|the case|so|valid|apply|hold|go|count|work))"
        r"(?:\s+(?:also|too|true|good))*\s+(?P<rest>(?:for|to|in|on|at|with|of)\s+[^?？]+?)(?:\s+(?:too|as well))?"
    ),
)
_GERMAN = Grammar(
    asking=_words(
        "was wer wen wem wessen welche welcher welches welchen welchem wann wo wohin woher warum"
        " weshalb wieso wie lange viel viele oft weit hoch"
    ),
    auxiliaries=_words(
        "ist sind war waren bin kann können könnte muss müssen darf dürfen soll sollen wird werden"
        " wurde wurden hat haben habe hatte gibt gilt gelten bekommt bekommen beträgt"
    ),
    determiners=_words(
        "der die das den dem des ein eine einen einem einer eines mein meine meinen meiner unser"
        " unsere ihr ihre kein keine jede jeder jedes alle"
    ),
    prepositions=_words(
        "für in im an am auf aus bei mit ohne von vom zu zum zur über unter vor nach ab bis seit"
        " während gegen um ins"
    ),
    subjects=_words("ich wir man mir uns"),
    pronouns=_words(
        "es er sie ihn ihm ihnen diese dieser dieses diesen diesem dies das davon dafür dazu"
    ),
    joining=_words("und oder aber auch dann wenn ob nicht nur noch denn bitte so sich"),
    leads=_leads(
        "(?:und |aber )?was ist mit",
        "(?:und )?wie (?:sieht es|ist es|steht es)(?: \\w+)? (?:mit|bei)",
        "und auch",
        "und",
        "aber",
        "oder",
        "auch",
    ),
    same=_same(
        r"(?:und\s+)?(?:gilt|ist|trifft)\s+(?:das|dies|es)(?:\s+(?:auch|so|ebenso))*\s+(?P<rest>(?:für|bei|in|auf|an)\s+[^?？]+?)(?:\s+zu)?"
    ),
    capital_nouns=True,
)
_FRENCH = Grammar(
    asking=_words("qui que quoi quel quelle quels quelles quand où pourquoi comment combien qu"),
    auxiliaries=_words(
        "est sont était étaient a ont ai peut puis peux peuvent dois doit faut fait être avoir y"
    ),
    determiners=_words("le la les l un une des mon ma mes notre nos votre vos ce cette ces"),
    prepositions=_words("de du d à au aux en dans pour par sur avec sans sous avant après chez"),
    subjects=_words("je j on nous me vous t"),
    pronouns=_words("il elle ils elles lui leur celui celle ceux cela ça"),
    joining=_words("et ou mais si aussi ne pas temps"),
    leads=_leads(
        "et qu['’]en est-il (?:de|des|du)", "et pour ce qui est (?:de|des|du)", "et", "mais", "ou"
    ),
    same=_NEVER,
)
_SPANISH = Grammar(
    asking=_words(
        "qué que quién quien cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas"
    ),
    auxiliaries=_words(
        "es son era está están hay puedo puede pueden debo debe tengo tiene tienen ser"
    ),
    determiners=_words("el la los las un una unos unas mi mis su sus nuestro nuestra este esta"),
    prepositions=_words("de del a al en por para con sin sobre bajo desde hasta"),
    subjects=_words("me se nos"),
    pronouns=_words("lo él ella ellos ellas eso esto esos estas"),
    joining=_words("y o pero si también no"),
    leads=_leads("y qué pasa con", "qué pasa con", "qué hay de", "y", "pero", "o", "también"),
    same=_NEVER,
)
_ITALIAN = Grammar(
    asking=_words("che chi cosa quale quali quando dove perché come quanto quanta quanti quante"),
    auxiliaries=_words("è sono era c ci posso può possono devo deve ho ha hanno essere"),
    determiners=_words("il lo la i gli le l un uno una mio mia miei nostro nostra questo questa"),
    prepositions=_words(
        "di del dei della dello delle a al alla in nel nella da per con su senza tra fra"
    ),
    subjects=_words("io noi si mi"),
    pronouns=_words("esso essa essi loro lui lei ciò"),
    joining=_words("e ed o ma se anche non"),
    leads=_leads(
        "e per quanto riguarda", "e che dire (?:di|dei|del|delle|della)", "e", "ma", "o", "anche"
    ),
    same=_NEVER,
)
_DUTCH = Grammar(
    asking=_words("wat wie welke welk wanneer waar waarom hoe hoeveel lang lange veel vaak"),
    auxiliaries=_words(
        "is zijn was waren kan kunnen moet moeten mag wordt worden heeft hebben heb krijgt"
    ),
    determiners=_words("de het een mijn ons onze elke geen"),
    prepositions=_words("van in op voor met zonder aan bij na om te uit over onder tot"),
    subjects=_words("ik we wij men me"),
    pronouns=_words("hij zij ze hem deze dit dat die"),
    joining=_words("en of maar ook als er niet"),
    leads=_leads("en hoe zit het met", "hoe zit het met", "en wat met", "en", "maar", "of", "ook"),
    same=_NEVER,
)
_UNPARSED = Grammar(
    asking=frozenset(),
    auxiliaries=frozenset(),
    determiners=frozenset(),
    prepositions=frozenset(),
    subjects=frozenset(),
    pronouns=_words("এটা এটি এগুলো সেটা সেটি তা ওটা यह वह ये वे इसे उसे هذا هذه ذلك"),
    joining=frozenset(),
    leads=_leads("আর", "এবং", "তাহলে", "কিন্তু", "और", "तो", "लेकिन", "وماذا عن", "ماذا عن", "و"),
    same=_NEVER,
)

GRAMMARS: Mapping[str, Grammar] = MappingProxyType(
    {
        "en": _ENGLISH,
        "de": _GERMAN,
        "fr": _FRENCH,
        "es": _SPANISH,
        "it": _ITALIAN,
        "nl": _DUTCH,
    }
)
"""By primary BCP 47 subtag."""

UNPARSED = _UNPARSED
"""For any other language: a follow-up is recognised, and what was asked before stands beside it."""
