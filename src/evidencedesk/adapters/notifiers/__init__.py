"""Ways out to a person: a signed webhook, e-mail."""
