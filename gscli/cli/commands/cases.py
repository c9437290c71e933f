"""`gscli cases OP… -o FOLDER|FILE.jsonl`.

Write cases that put every rule of an operator to the test, with the rules' answers.

For a CI that cannot call gscli: ONNX node-test folders (model.onnx and test_data_set_0) or
JSON Lines, the same for the same seed. Then a table: how many cases meet each rule (negative,
border and bad indices, duplicates under each reduction, small indices, batches, nothing at
all), beside how many of ONNX's own node tests do; --measure puts another pack in their place.
Without -o only the table. `gscli verify FILE.jsonl --on R` puts cases to a runtime.

\b
Examples:
  gscli cases onnx.scatter-nd -o cases.jsonl
  gscli cases onnx --cases 300 -o node-tests
  gscli cases onnx --measure my-node-tests
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

from gscli.base.words import counted, safe
from gscli.cli.building import complete_file, tool
from gscli.cli.commands.runtimes import are_lines, one_document
from gscli.cli.options import (
    ANY_NUMBER,
    DOCUMENT,
    Argument,
    Settings,
    SharedOption,
    print_document,
    tell,
)

if TYPE_CHECKING:
    from gscli.runtimes.packs import Measured, Pack

MOST_CASES = 100_000

Output: TypeAlias = Annotated[
    str | None,
    SharedOption(
        "recorded cases, - for stdout, or a folder of ONNX node tests", "FILE.jsonl|FOLDER", "-o"
    ),
]  # fmt: skip
Measure: TypeAlias = Annotated[
    str | None,
    SharedOption(
        "how many of the rules the cases of others meet", "FOLDER|FILE.jsonl",
        complete=complete_file,
    ),
]  # fmt: skip


@tool("cases", DOCUMENT)
def cases(
    operators: Annotated[Sequence[str], Argument("OP...", "onnx.scatter-nd, or a framework")],
    count: Annotated[
        int,
        SharedOption(
            "cases of each operator",
            "N",
            flag="--cases",
            minimum=1,
            maximum=MOST_CASES,
            shows_default=True,
        ),
    ] = 100,
    seed: Annotated[
        int, SharedOption("the same seed gives the same", "N", shows_default=True, **ANY_NUMBER)
    ] = 7,
    output: Output = None,
    measure: Measure = None,
    *,
    settings: Settings,
) -> int:
    from gscli.runtimes.operator_names import operators_named
    from gscli.runtimes.packs import Pack, coverage_table, measured, onnx_node_tests

    one_document(output, settings)
    chosen = dict.fromkeys(one for name in operators for one in operators_named(name))
    others = onnx_node_tests() if measure is None else measured(measure)
    made = [Pack(operator, count, seed) for operator in chosen]
    written = 0 if output is None else _write(made, output)
    if settings.json is not None:
        print_document(_document(made, others, written))
    elif output != "-":
        sys.stdout.writelines(line + "\n" for line in coverage_table(made, others))
    if output not in (None, "-"):
        tell(f"{counted(written, 'case')} in {safe(output or '')}\n")
    return 0


def _write(made: list[Pack], output: str) -> int:
    """Write the packs as one file, or as node tests; how many cases that are."""
    from gscli.cli.call.pictures import save_text
    from gscli.runtimes import packs

    if are_lines(output):
        save_text(output, packs.lines(pack.trials for pack in made))
        return sum(len(pack.trials) for pack in made)
    return packs.write_node_tests(output, {one.operator.full_name: one.trials for one in made})


def _document(made: list[Pack], others: Mapping[str, Measured], written: int) -> dict[str, object]:
    """The JSON form: for each operator the rules with the cases that meet them."""
    names = [pack.operator.full_name for pack in made]
    return {
        "written": written,
        "rules": {pack.operator.full_name: dict(sorted(pack.met.items())) for pack in made},
        "others": {
            name: {
                "name": others[name].name,
                "cases": others[name].cases,
                "rules": dict(sorted(others[name].met.items())),
            }
            for name in names
            if name in others
        },
    }
