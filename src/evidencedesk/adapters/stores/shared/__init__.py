"""What every store does alike: how values are written down, the arithmetic of scores, refusals.

No SQL and no connection; a store imports from here, and none from another store.
"""
