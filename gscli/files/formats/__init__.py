"""One file for each format: how its bytes become an array, and back."""
