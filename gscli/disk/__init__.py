"""Bytes on disk: replaced whole or not at all, mapped, cloned, exchanged; no format is known."""
