"""Stores of documents, chunks, vectors and postings: ``sqlite`` embedded, ``postgres`` on a server."""
