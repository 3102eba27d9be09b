"""Words that make a sentence a question and say nothing of what is asked, per language."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

_LISTS = {
    "en": """
        what what's who whom whose which when where why how is are was were am be been do does did
        can could will would shall should may might must has have had there please tell me i my we
        our you your it its that this the a an of to in on for at by with from and or
    """,
    "de": """
        was wer wen wem wessen welche welcher welches welchen welchem wann wo wohin woher warum
        weshalb wieso wie ist sind war waren bin kann können könnte muss müssen darf dürfen soll
        sollen wird werden wurde wurden hat haben hatte es ich mein meine wir man gibt der die das
        den dem des ein eine einen einem einer eines und oder in im zu zum zur von vom mit auf für
        bei an am
    """,
    "fr": """
        qui que quoi quel quelle quels quelles quand où pourquoi comment combien lequel laquelle
        est sont était étaient ce c qu y a il elle on je j mon ma mes nous peut puis peux dois doit
        faut le la les l un une des de du d et ou à au aux en dans pour par sur avec
    """,
    "es": """
        qué que quién quien quiénes cuál cuáles cuándo cuando dónde donde por cómo como cuánto
        cuánta cuántos cuántas es son era fue fueron está están hay puedo puede debo debe se me mi
        el la los las un una unos unas de del y o a al en para con
    """,
    "it": """
        che chi cosa quale quali quando dove perché come quanto quanta quanti quante è sono era fu
        c ci posso può devo deve si mi mio mia il lo la i gli le l un uno una di del della dei e o
        a al in per con su
    """,
    "pt": """
        que quê quem qual quais quando onde por porque como quanto quanta quantos quantas é são era
        foi há posso pode devo deve se me meu minha o a os as um uma de do da dos das e ou em no na
        para com
    """,
    "nl": """
        wat wie welke welk wanneer waar waarom hoe hoeveel is zijn was waren kan kunnen moet moeten
        mag wordt worden heeft hebben er ik mijn we het de een en of in op van voor met aan te
    """,
    "sv": "vad vem vilken vilket vilka när var varför hur är kan måste får jag min det den en ett och",
    "da": "hvad hvem hvilken hvilket hvilke hvornår hvor hvorfor hvordan er kan skal må jeg min det den en et og",
    "no": "hva hvem hvilken hvilket hvilke når hvor hvorfor hvordan er kan må jeg min det den en et og",
    "ru": """
        что кто кого кому чем какой какая какое какие когда где куда откуда почему зачем как сколько
        ли есть был была были быть можно я мой моя мы это и или в во на с по для из к о
    """,
    "ar": "ما ماذا من متى أين لماذا كيف كم هل أي هو هي كان كانت في على إلى عن و أو",
    "hi": """
        क्या कौन किस किसे किसने किसका किसकी किसके कब कहाँ कहां क्यों कैसे कितना कितनी कितने कौनसा कौनसी
        है हैं था थी थे का की के को में से पर ने और या मैं मेरा मेरी
    """,
    "bn": """
        কী কি কে কাকে কার কারা কখন কবে কোথায় কেন কীভাবে কিভাবে কত কতটা কতদিন কতগুলো কোন কোনটি কয় কয়টি
        আমি আমার আমরা এবং ও বা এর একটি একটা জন্য আছে হয় হবে যায় যাবে পারি পারব পারে করা করে করতে
        করব দিতে দেব নিতে নেব পাব পেতে লাগে লাগবে
    """,
    "tr": "ne kim kime hangi nerede nereye neden niçin nasıl kaç mı mi mu mü var ve veya bir bu",
    "pl": "co kto kogo jaki jaka jakie kiedy gdzie dlaczego jak ile czy jest są był mogę i lub w na z do",
}

QUESTION_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        language: frozenset(unicodedata.normalize("NFKC", words).split())
        for language, words in _LISTS.items()
    }
)
"""Primary BCP 47 subtag to lower-case words dropped from a question asked in that language."""

QUESTION_PHRASES = frozenset(
    {("how", word) for word in ("long", "much", "many", "often", "soon", "far", "come", "about")}
    | {("wie", word) for word in ("lange", "viel", "viele", "oft", "weit")}
    | {("hur", word) for word in ("länge", "mycket", "många", "ofta")}
    | {("hoe", word) for word in ("lang", "lange", "veel", "vaak", "ver")}
)
"""Pairs of neighbouring words of which the second, too, is only part of the asking."""
