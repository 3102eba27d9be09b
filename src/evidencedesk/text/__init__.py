"""Text: sentences, tokens, keyword terms, languages and the folding that quotes are compared by."""
