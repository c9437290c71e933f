"""Stores of chunks: each chunk is read once, changed by the kernel and written once."""
