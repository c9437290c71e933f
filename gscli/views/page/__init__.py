"""Lessons as one HTML file."""
