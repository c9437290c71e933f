"""Sentences and formulas about what a run did."""
