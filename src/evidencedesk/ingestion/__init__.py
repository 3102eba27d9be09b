"""Placeholder docstring; replaced by its stage."""
