"""What an operator is: one typed function, its inputs and its attributes."""
