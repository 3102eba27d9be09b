"""Semantic models on this machine: which there are, where they lie, how one is had.

``catalogue`` knows the models by name, ``cache`` finds and checks those that are here, and ``pull``
is the only code in the product that downloads anything. ``manifest`` reads what a model directory
says of itself; ``weights``, ``bert_graph`` and ``layers`` turn original weights into graphs, and so
do ``packed`` and ``unigram`` with weights in four bits and their vocabulary.
"""
