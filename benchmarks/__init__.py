"""Measurements against rivals and bare products, each in one run on one machine."""
