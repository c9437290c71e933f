"""Commands besides the operators, one light module each, which holds the command by its own name.

The work is elsewhere and imported inside the function, so that help stays instant.
"""
