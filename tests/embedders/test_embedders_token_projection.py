"""Shortened token vectors: the matrix that ships, for which model, and what it keeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from evidencedesk.adapters.embedders.onnx import OnnxEmbedder
from evidencedesk.adapters.embedders.token_projection import shipped_projection
from evidencedesk.adapters.models.manifest import read_manifest

TEXT = "Opened helmets cannot be returned. They stay with whoever bought them."


def test_the_matrix_that_ships_is_orthonormal(minilm_directory: Path):
    projection = shipped_projection(read_manifest(minilm_directory))
    assert projection is not None
    matrix = projection.matrix.astype(np.float64)
    assert matrix.shape == (384, 96)
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(96), atol=2e-3)


def test_another_model_of_the_same_name_gets_no_matrix(minilm_directory: Path):
    manifest = read_manifest(minilm_directory)
    assert shipped_projection(replace(manifest, sha256={})) is None
    assert shipped_projection(replace(manifest, name="other")) is None


def test_the_spec_says_which_matrix_and_without_tokens_nothing(
    minilm_directory: Path, minilm: OnnxEmbedder
):
    keeping = OnnxEmbedder(minilm_directory, keep_tokens=True)
    assert keeping.spec.token_dimensions == 96
    assert keeping.spec.token_projection.startswith("sha256:")
    assert replace(keeping.spec, token_dimensions=0, token_projection="") == minilm.spec


def test_stored_tokens_are_unit_vectors_of_the_same_tokens(minilm_directory: Path):
    keeping = OnnxEmbedder(minilm_directory, keep_tokens=True)
    whole, stored = keeping.token_vectors([TEXT])[0], keeping.stored_tokens([TEXT])[0]
    assert stored.spans == whole.spans
    assert stored.vectors.shape == (len(whole.spans), 96)
    np.testing.assert_allclose(np.linalg.norm(stored.vectors, axis=1), 1.0, atol=1e-5)
    near = np.corrcoef(
        (whole.vectors @ whole.vectors.T).ravel(), (stored.vectors @ stored.vectors.T).ravel()
    )
    assert near[0, 1] > 0.9


def test_a_model_without_a_matrix_keeps_its_own_vectors(minilm_directory: Path, tmp_path: Path):
    manifest = read_manifest(minilm_directory)
    for name in (*manifest.graphs["int8"], manifest.tokenizer):
        (tmp_path / name).symlink_to(minilm_directory / name)
    replace(manifest, name="mine", graphs={"int8": manifest.graphs["int8"]}, sha256={}).write(
        tmp_path
    )
    keeping = OnnxEmbedder(tmp_path, keep_tokens=True)
    assert (keeping.spec.token_dimensions, keeping.spec.token_projection) == (384, "")
    stored, whole = keeping.stored_tokens([TEXT])[0], keeping.token_vectors([TEXT])[0]
    assert np.array_equal(stored.vectors, whole.vectors)
