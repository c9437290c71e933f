"""`gscli cases OP… -o FOLDER|FILE.jsonl`.

Write cases that put every rule of an operator to the test, with the rules' answers.

For a CI that cannot call gscli: ONNX node-test folders (model.onnx and test_data_set_0) or
JSON Lines, the same for the same seed. A node test has one right output: refusals and what a
text leaves open stand in FOLDER/others.jsonl, for gscli verify. Then a table: how many cases
meet each rule (negative, border and bad indices, duplicates under each reduction, small
indices, batches, nothing at all), beside how many of ONNX's own node tests do; --measure puts
another pack in their place. Without -o only the table. `gscli verify FILE.jsonl --on R` puts
cases to a runtime.

\b
Examples:
  gscli cases onnx.scatter-nd -o cases.jsonl
  gscli cases onnx --cases 300 -o node-tests
  gscli cases onnx --measure my-node-tests
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gscli.base.words import join_lines
from gscli.cli.building import complete_file, tool
from gscli.cli.commands.runtimes import SEED, is_json_lines, write_cases
from gscli.cli.completion import complete_operator_name
from gscli.cli.options import (
    JSON_OPTION,
    Settings,
    argument,
    check_places,
    option,
    output_option,
    print_report,
)

if TYPE_CHECKING:
    from gscli.runtimes.packs import CaseSuite, SuiteCoverage

MOST_CASES = 100_000


@tool("cases", JSON_OPTION)
def cases(
    operators: Sequence[str] = argument(
        "OP...", "onnx.scatter-nd, or a framework", complete_operator_name
    ),
    count: int = option(
        "cases of each operator", "N", flag="--cases", minimum=1, maximum=MOST_CASES, default=100,
        shows_default=True,
    ),
    seed: int = SEED,
    output: str | None = output_option(
        "recorded cases, - for stdout, or a folder of ONNX node tests", "FILE.jsonl|FOLDER", "-o"
    ),
    measure: str | None = option(
        "how many of the rules the cases of others meet", "FOLDER|FILE.jsonl",
        complete=complete_file,
    ),
    *,
    settings: Settings,
) -> int:  # fmt: skip
    from gscli.frameworks import find_operators, join_operator_names
    from gscli.runtimes.packs import (
        draw_suite,
        format_coverage_table,
        has_one_output,
        load_onnx_coverage,
        measure_suites,
    )
    from gscli.views.progress_bar import ProgressBar

    check_places(settings, {"-o": output})
    names = join_operator_names(operators)
    chosen = dict.fromkeys(operator for name in names for operator in find_operators(name))
    others = load_onnx_coverage() if measure is None else measure_suites(measure)
    with ProgressBar("calls", None) as progress:
        made = [draw_suite(operator, count, seed, progress.advance) for operator in chosen]
    written = 0
    if output is not None:
        written = write_cases([case for suite in made for case in suite.cases], output)
        if not is_json_lines(output):
            made = [suite._replace(cases=[*filter(has_one_output, suite.cases)]) for suite in made]
    if output != "-":
        make_document = partial(_coverage_to_dict, made, others, written)
        lines = format_coverage_table(made, others)
        print_report(settings, make_document, partial(join_lines, lines))
    return 0


def _coverage_to_dict(
    made: list[CaseSuite], others: Mapping[str, SuiteCoverage], written: int
) -> dict[str, object]:
    """The JSON form: for each operator the rules with the cases that meet them."""
    rules = {pack.operator.full_name: dict(sorted(pack.cases_by_rule.items())) for pack in made}
    measured = {
        name: {**others[name]._asdict(), "rules": dict(sorted(others[name].rules.items()))}
        for name in rules
        if name in others
    }
    return {"written": written, "rules": rules, "others": measured}
