"""`gscli` and `python -m gscli`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    from gscli.guard import guarded  # noqa: PLC0415  closed descriptors are mended before the rest

    sys.exit(guarded(sys.argv[1:]))


if __name__ == "__main__":
    main()
