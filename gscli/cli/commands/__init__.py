"""Commands besides the operators, one light module each with `build() -> command`.

The work is elsewhere and imported inside the function, so that help stays instant.
"""
