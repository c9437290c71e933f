"""`gscli runtimes [R]`.

Which runtimes can be asked, and what an interpreter has of them.

--adapter prints a file that imports nothing of gscli, to be copied into a project and started
by --on 'python adapter.py'. `gscli help runtimes` describes the protocol.

\b
Examples:
  gscli runtimes --python ~/torch/bin/python
  gscli runtimes jax:jit
  gscli runtimes --adapter onnxruntime > adapter.py
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from gscli.base import UsageError
from gscli.cli.options import DOCUMENT, Settings, print_document
from gscli.cli.tools import tool
from gscli.cli.work.runtimes import Python

if TYPE_CHECKING:
    from gscli.runtimes.catalogue import Installed


@tool("runtimes", DOCUMENT)
def runtimes(
    runtime: Annotated[
        str | None, typer.Argument(metavar="[R]", help="start it, and say what it answers")
    ] = None,
    python: Python = None,
    adapter: Annotated[
        str | None, typer.Option(help="print the adapter of a runtime, one file", metavar="NAME")
    ] = None,
    *,
    settings: Settings,
) -> int:
    if runtime is not None and adapter is not None:
        raise UsageError("one thing at a time", valid="R or --adapter NAME")
    if adapter is not None:
        from gscli.runtimes.catalogue import adapter_text

        sys.stdout.write(adapter_text(adapter))
        return 0
    if runtime is not None:
        return _introduce(runtime, python, settings)
    from gscli.runtimes.catalogue import installed

    _list(installed(python), settings)
    return 0


def _introduce(name: str, python: str | None, settings: Settings) -> int:
    from gscli.cli.work.runtimes import PATIENCE, judging

    with judging(name, python, PATIENCE) as (started, operators):
        hello = started.hello
        assert hello is not None
        names = [operator.full_name for operator in operators]
    if settings.json is not None:
        facts = {"name": hello.name, "version": hello.version, "rules": dict(hello.rules)}
        print_document({**facts, "operators": names})
        return 0
    sys.stdout.write(f"{hello.title}, its adapter passed the self-test\n")
    sys.stdout.writelines(f"  {one}\n" for one in names)
    return 0


def _list(found: list[Installed], settings: Settings) -> None:
    if settings.json is not None:
        rows = [
            {
                "name": one.adapter.name,
                "package": one.adapter.package,
                "version": one.version or None,
                "missing": list(one.missing),
                "variants": one.adapter.variants,
            }
            for one in found
        ]
        print_document(rows)
        return
    width = max(len(one.adapter.name) for one in found) + 2
    versions = max(len(one.version) for one in found) + 2
    for one in found:
        state = one.version or "-"
        more = f"needs {' '.join(one.missing)}" if one.version and one.missing else ""
        variants = f"  :{one.adapter.variants}" if one.adapter.variants else ""
        line = f"{one.adapter.name:<{width}}{state:<{max(versions, 3)}}{more}{variants}"
        sys.stdout.write(line.rstrip() + "\n")
