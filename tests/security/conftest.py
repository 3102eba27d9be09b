"""A server over the sample corpus."""

from sample_servers import index, live, live_with, sample_index, serve, server

__all__ = ["index", "live", "live_with", "sample_index", "serve", "server"]
