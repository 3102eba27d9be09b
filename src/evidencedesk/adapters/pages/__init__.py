"""Pages of paged formats as pictures."""
