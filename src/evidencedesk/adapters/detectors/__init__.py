"""Detectors of personal data and secrets; see :class:`evidencedesk.protocols.Detector`."""
