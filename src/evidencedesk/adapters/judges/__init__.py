"""Judges: second opinions on whether quotes bear a claim out."""
