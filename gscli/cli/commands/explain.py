"""`gscli explain OPERATOR …`."""

from __future__ import annotations

import sys
from typing import Any

from gscli.base import UsageError
from gscli.base.records import Record
from gscli.cli.completion import make_list_completer
from gscli.cli.options import Settings, SharedOption, check_combinations, detect_screen, print_json
from gscli.cli.tree import make_operator_group
from gscli.frameworks.operator import Operator

TARGETS = ("all", "numpy", "torch", "jax", "tensorflow", "onnx", "openvino", "stablehlo")
"""What `--code` takes, without importing what writes it."""


def explain() -> Any:
    """Every operator under explain."""
    return make_operator_group(
        _Explain(), "explain", "The operator's formula with real numbers, then its entries."
    )


class _Explain:
    """The formula and the entries, or with `--code` the lines of other frameworks."""

    options = (
        SharedOption(
            f"the same call in other frameworks: a list of {' '.join(TARGETS)}", "LIST",
            name="code", complete=make_list_completer(TARGETS), heading="Options",
            excludes=("output", "format", "expect", "in_place", "step", "svg", "html"),
            why="--code prints lines and nothing else",
        ),
        SharedOption(
            "with --code: run the lines where they can be run",
            name="check", kind=bool, default=False, heading="Options",
            needs="code", why="--check runs the lines that --code writes",
        ),
        SharedOption(
            "with --check: interpreter that has them", "PATH", name="python", heading="Options",
            needs="check", why="--python names the interpreter of --check",
        ),
    )  # fmt: skip

    def __call__(
        self,
        operator: Operator,
        words: list[str],
        texts: dict[str, str],
        settings: Settings,
        **own: Any,
    ) -> int:
        check_combinations(self.options, {**settings._asdict(), **own})
        code_options = CodeOptions(**own)
        if code_options.code is not None:
            return print_code(operator, words, texts, settings, code_options)
        return explain_operator(operator, words, texts, settings)


def explain_operator(
    operator: Operator, words: list[str], texts: dict[str, str], settings: Settings
) -> int:
    """The formula and a line per entry."""
    from gscli.cli.call import PreparedCall, check_outputs, show_run
    from gscli.cli.call.pictures import render_explanation

    expected = check_outputs(settings, words)
    trace = PreparedCall(operator, words, texts, settings).run_in_memory()
    text = render_explanation(trace, settings) if settings.is_screen_used else ""
    return show_run(trace, settings, expected, lambda *_: (text, 0))


class CodeOptions(Record):
    """What was asked for: the list of targets, whether to run the lines, and by what."""

    code: str | None
    check: bool
    python: str | None


def print_code(
    operator: Operator,
    words: list[str],
    texts: dict[str, str],
    settings: Settings,
    code_options: CodeOptions,
) -> int:
    """The lines for each target; 1 where a run of them does not give the same output."""
    from gscli.cli.call import PreparedCall
    from gscli.codegen.code import generate_code, parse_targets

    assert code_options.code is not None
    if settings.json == "output":
        raise UsageError(
            "--code prints lines and nothing else", where="--json=output",
            hint="leave out --json=output",
        )  # fmt: skip
    targets = parse_targets(code_options.code)
    call = PreparedCall(operator, words, texts, settings)
    if code_options.check:
        from gscli.cli.commands.runtimes import warn_of_left_running
        from gscli.codegen.execution import check_input_sizes, run_checks

        check_input_sizes(call.inputs.arrays)
        trace = call.run_in_memory()
        code = generate_code(operator, trace.plan, trace.output, targets, call.inputs.origins)
        code = run_checks(code, code_options.python)
        warn_of_left_running()
    else:
        with call.add_error_locations():
            plan = call.validate()
        code = generate_code(operator, plan, None, targets, call.inputs.origins)
    if settings.json is not None:
        print_json(code.to_dict())
    elif not settings.quiet:
        sys.stdout.write(code.text(detect_screen(sys.stdout, settings.color, settings.width).width))
    wrong = ("not equal", "failed", "took too long")
    return int(any(answer.run_result.get("result") in wrong for answer in code.answers))
