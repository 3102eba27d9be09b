"""What the server remembers beside the index: API keys, sessions, uploads under way."""
