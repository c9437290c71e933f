"""`gscli cases OP… -o FOLDER|FILE.jsonl`."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from gscli.base.text import counted, safe
from gscli.cli.building import tool
from gscli.cli.options import DOCUMENT, Settings
from gscli.cli.terminal import tell

MOST_CASES = 100_000


def build() -> Any:
    """The command."""
    return tool(cases, "cases", DOCUMENT)


def cases(
    operators: Annotated[
        list[str], typer.Argument(metavar="OP...", help="onnx.scatter-nd, or a framework")
    ],
    count: Annotated[
        int,
        typer.Option("--cases", help="cases of each operator", metavar="N", min=1, max=MOST_CASES),
    ] = 100,
    seed: Annotated[int, typer.Option(help="the same seed gives the same", metavar="N")] = 7,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE.jsonl|FOLDER",
            help="recorded cases, - for stdout, or a folder of ONNX node tests",
        ),
    ] = None,
    *,
    settings: Settings,
) -> int:
    """Write cases that put every rule of an operator to the test, with the rules' answers.

    For a CI that cannot call gscli: ONNX node-test folders (model.onnx and test_data_set_0) or
    JSON Lines, the same for the same seed. Then a table: how many cases meet each rule (negative,
    border and bad indices, duplicates under each reduction, small indices, batches, nothing at
    all). Without -o only the table. `gscli verify FILE.jsonl --on R` puts them to a runtime.

    \b
    Examples:
      gscli cases onnx.scatter-nd -o cases.jsonl
      gscli cases onnx --cases 300 -o node-tests
    """
    from gscli.cli.work.drawing import save_text
    from gscli.lab.runtimes import packs
    from gscli.lab.runtimes.naming import operators_named

    chosen = dict.fromkeys(one for name in operators for one in operators_named(name))
    made = [packs.Pack(operator, count, seed) for operator in chosen]
    written = 0
    if output is not None and (output.endswith(".jsonl") or output == "-"):
        save_text(output, packs.lines(pack.trials for pack in made))
        written = sum(len(pack.trials) for pack in made)
    elif output is not None:
        trials = {pack.operator.full_name: pack.trials for pack in made}
        written = packs.write_node_tests(output, trials)
    if settings.json is not None:
        table = {pack.operator.full_name: dict(sorted(pack.met.items())) for pack in made}
        sys.stdout.write(json.dumps({"written": written, "rules": table}) + "\n")
    elif output != "-":
        sys.stdout.writelines(line + "\n" for line in packs.coverage_table(made))
    if output not in (None, "-"):
        tell(f"{counted(written, 'case')} in {safe(output or '')}\n")
    return 0
