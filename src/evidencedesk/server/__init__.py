"""The HTTP server: one desk behind authentication, limits and a table of permissions.

Needs the extra ``server``. Nothing here decides who may see a document: every call hands the
caller's :class:`~evidencedesk.access.Principal` to the desk, and the desk shows what he may see.
"""
