"""A desk as the retriever of other frameworks; each module needs the extra that is named like it.

The reader is given when a retriever is made and stays: nothing that passes through a pipeline, a
prompt or a saved file can read as somebody else.
"""
