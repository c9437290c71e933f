"""Explanations, steps, comparisons, rules and legends as lines of text."""
