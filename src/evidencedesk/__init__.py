"""EvidenceDesk: answers from your own documents, each sentence tied to a quote that code checked."""
