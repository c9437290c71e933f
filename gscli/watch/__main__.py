"""`python -m gscli.watch OPTIONS PROGRAM WORD…`: what `gscli watch` starts in its own place."""

from __future__ import annotations

import json
import sys

from gscli.watch.program import ProgramOptions, run_program

if __name__ == "__main__":
    sys.exit(run_program(ProgramOptions(**json.loads(sys.argv[1])), sys.argv[2:]))
