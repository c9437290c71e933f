"""The same call written for other frameworks: `gscli explain OP … --code` and `gscli.code`."""
