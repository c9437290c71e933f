"""Run a command and report its wall time, CPU time and memory.

    python -S -E spawn.py DESCRIPTOR COMMAND…

It runs as a small process of its own, because Linux counts the memory of whoever starts a process
as its peak. The report goes to DESCRIPTOR as JSON, so that the command keeps all three streams.
"""

from __future__ import annotations

import json
import os
import sys
import time

SAMPLING = 0.01


def run(command: list[str]) -> dict[str, float]:
    """Spawn and wait; peaks in MiB: all pages, and those not of mapped files (sampled)."""
    private = 0
    begin = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ)
    while True:
        ended, status, used = os.wait4(process, os.WNOHANG)
        if ended:
            break
        private = max(private, anonymous(process))
        time.sleep(SAMPLING if time.perf_counter() - begin > 1 else SAMPLING / 20)
    wall = time.perf_counter() - begin
    return {
        "wall": wall,
        "cpu": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss / 1024,
        "private": private / 1024,
        "status": os.waitstatus_to_exitcode(status),
    }


def anonymous(process: int) -> int:
    """KiB that a process holds now and that belong to no file."""
    try:
        with open(f"/proc/{process}/status", encoding="ascii") as status:  # noqa: PTH123  light
            return next((int(line.split()[1]) for line in status if line[:7] == "RssAnon"), 0)
    except OSError:
        return 0


if __name__ == "__main__":
    report = json.dumps(run(sys.argv[2:]))
    os.write(int(sys.argv[1]), report.encode())
