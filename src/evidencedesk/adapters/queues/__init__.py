"""Queues of ingestion jobs."""
