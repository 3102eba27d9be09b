"""Words before a full stop that does not end a sentence, casefolded and without their last stop.

The lists are short on purpose: a missing entry splits one sentence in two, a wrong entry joins two,
and either way no text is lost.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEVER_LAST = _words(
    """
    mr mrs ms messrs mx dr prof rev hon gen col capt lt sgt cpl maj cmdr gov sen rep pres st mt ft
    e.g eg i.e ie cf viz vs v resp incl excl approx esp al ibid op cit ca
    z.b bzw d.h vgl u.a ggf evtl inkl zzgl hr fr dipl
    m mm mme mlle p.ex c.-à-d
    sra srta d.ª dña p.ej
    sig dott sig.ra
    dhr mevr bijv o.a d.w.z
    ড ডা মো মোসা মি মিসেস প্রফেসর অধ্যা ইঞ্জি
    डॉ श्री प्रो
    """
)
"""Introduce what follows: never the last word of a sentence."""

BEFORE_NUMBER = _words(
    """
    no nos nr nrn num fig figs eq eqs sec sect art arts ch chap app appx tab vol vols p pp para paras
    ext tel abs ziff bd s seite rn núm pág art.º cap
    jan feb mar apr jun jul aug sep sept oct nov dec
    নং পৃ
    """
)
"""Abbreviations when a number follows, ordinary words otherwise."""

MAYBE_LAST = _words(
    """
    etc inc ltd co corp plc llc gmbh bros jr sr esq usw u.s.w bv nv s.a s.l
    a.m p.m u.s u.k u.s.a e.u u.n d.c ph.d m.d b.a m.a b.sc m.sc
    hrs hr min mins sec secs yr yrs wk wks mo mos dept est ave blvd rd sq lb lbs oz kg km cm mm
    লি
    """
)
"""Stand inside a sentence as often as at its end."""

SENTENCE_STARTERS = _words(
    """
    a after all also although an and any as at before both but by each every for from has have he
    her here his how however i if in is it its many most my never no not nothing now of on once one
    only or our please she should since so some such that the their then there these they this
    those to under unless until we what when where whether which while who why with you your
    das der die ein eine er es sie wenn wir
    el en la las les le los il un una une nous vous
    """
)
"""Words that, capitalised, tell the start of a sentence from the rest of a name."""
