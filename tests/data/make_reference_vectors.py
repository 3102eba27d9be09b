"""Make ``reference_vectors.npz`` from the original weights, with PyTorch and transformers.

Neither is a dependency of the project; run it in an environment of its own::

    python -m venv /tmp/reference && /tmp/reference/bin/pip install torch transformers numpy
    /tmp/reference/bin/python tests/data/make_reference_vectors.py <directory with model.safetensors>

The recipe is the one published with all-MiniLM-L6-v2: word pieces cut at 256, mean of the last
layer's token vectors, unit length. Texts go through the model one at a time in float32; the vectors
are stored as float16, which moves a cosine by less than 1e-6.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

HERE = Path(__file__).parent


def main(model_directory: str) -> None:
    """Write the vectors of ``reference_sentences.json`` beside it."""
    sentences = json.loads((HERE / "reference_sentences.json").read_text(encoding="utf-8"))
    tokenizer = AutoTokenizer.from_pretrained(model_directory)
    model = AutoModel.from_pretrained(model_directory, torch_dtype=torch.float32).eval()
    vectors = []
    for sentence in sentences:
        inputs = tokenizer(sentence, truncation=True, max_length=256, return_tensors="pt")
        with torch.no_grad():
            tokens = model(**inputs).last_hidden_state[0]
        vector = tokens.mean(dim=0)
        vectors.append((vector / vector.norm()).numpy())
    np.savez_compressed(HERE / "reference_vectors.npz", vectors=np.array(vectors, np.float16))


if __name__ == "__main__":
    main(sys.argv[1])
