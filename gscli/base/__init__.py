"""Words that every room needs: errors, texts, element types by name, arrays."""
