"""Pictures as lines of text."""
