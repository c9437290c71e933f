"""Exhaustive small worlds of every operator, and bad worlds with the refusal expected."""

from __future__ import annotations

from . import along, cache, one_cell, subscript, vector, window
from .bad import bad_worlds
from .core import GOOD, World

__all__ = ["GOOD", "World", "bad_worlds"]

FAMILIES = (along, cache, one_cell, subscript, vector, window)
