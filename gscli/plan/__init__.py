"""Index values become addresses, every one of them judged."""
