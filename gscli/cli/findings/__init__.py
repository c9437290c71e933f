"""What `gscli help findings` tells: what released runtimes answer where the rules differ. Light."""

from __future__ import annotations

import shlex

from gscli.cli.findings.finding import Finding
from gscli.cli.findings.frameworks import FRAMEWORKS
from gscli.cli.findings.onnx_runtimes import ONNX_RUNTIMES
from gscli.cli.findings.openvino import OPENVINO

__all__ = ["FINDINGS", "Finding", "findings"]

SEEN_ON = "22 November 2026"
WIDTH = 70

FINDINGS = (*ONNX_RUNTIMES, *FRAMEWORKS, *OPENVINO)
"""Facts about releases, each seen by its own command."""


def _broken(command: str) -> str:
    """A command on lines that a terminal holds, as a shell reads them."""
    lines = [""]
    for word in map(shlex.quote, shlex.split(command)):
        if lines[-1] and len(lines[-1]) + len(word) > WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n    ".join(lines)


def findings() -> str:
    """The findings, a block each."""
    head = (
        "What released runtimes answered where the rules say something else. Each was seen on "
        f"{SEEN_ON}\nby the command below it, on a CPU; later releases may differ. Put --python "
        "PATH behind a command\nwhen the runtime is in another environment.\n"
    )
    blocks = [
        f"\n{one.runtime}\n  {_broken(one.command)}\n  rules: {one.rules}\n  seen:  {one.seen}\n"
        for one in FINDINGS
    ]
    return head + "".join(blocks)
