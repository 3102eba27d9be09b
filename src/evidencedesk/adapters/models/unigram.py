"""Writes a ``tokenizer.json`` for a unigram vocabulary (Kudo, ACL 2018), as XLM-RoBERTa uses it."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from evidencedesk.adapters.models.packed import Vocabulary

_SPACE = "\u2581"


def write_tokenizer(vocabulary: Vocabulary, path: Path) -> None:
    """Write the tokenizer: SentencePiece's ``nmt_nfkc`` folding, spaces as U+2581, best split.

    A text is put between the vocabulary's begin and end.
    """
    pieces = vocabulary.pieces
    begin, end = pieces[vocabulary.begin], pieces[vocabulary.end]
    tokenizer = Tokenizer(
        models.Unigram(
            list(zip(pieces, vocabulary.scores, strict=True)),
            unk_id=vocabulary.unknown,
            byte_fallback=False,
        )
    )
    folding = [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    tokenizer.normalizer = normalizers.Sequence(folding)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(_SPACE, prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        f"{begin} $A {end}", None, [(begin, vocabulary.begin), (end, vocabulary.end)]
    )
    tokenizer.save(str(path), pretty=False)
