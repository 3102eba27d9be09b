"""Measuring: how well chunks are found and answers given."""

from evidencedesk.evaluation.metrics import (
    mrr,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)

__all__ = ["mrr", "ndcg_at_k", "precision_at_k", "recall_at_k", "reciprocal_rank"]
