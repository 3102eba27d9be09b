"""Sign-in by an OpenID Connect provider: its keys, its tokens, its codes."""
