"""Sentence embedding models behind the ``Embedder`` port."""
