"""Exhaustive small worlds of every operator, and bad worlds with the refusal expected."""

from __future__ import annotations

from . import along, one_cell, vector, window
from .core import GOOD, World

__all__ = ["GOOD", "World"]

FAMILIES = (along, one_cell, vector, window)
