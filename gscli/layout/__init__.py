"""Which cell an index addresses, from shapes and attributes alone."""
