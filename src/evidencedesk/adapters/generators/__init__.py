"""Generators that ship: adapters found by name through entry points."""
