"""`gscli explain OPERATOR …`."""

from __future__ import annotations

import sys
from functools import partial
from math import prod

from gscli.base import ExitCode, IndexRefused, UsageError, check_rule
from gscli.cli.building import Call
from gscli.cli.options import (
    OTHER_RESULTS,
    detect_screen,
    make_list_completer,
    option,
    print_report,
    refuse_flags,
)
from gscli.cli.tree import make_operator_group

# What `--code` takes, without importing what writes it.
TARGETS = ("all", "numpy", "torch", "jax", "tensorflow", "onnx", "openvino", "stablehlo")


def run_explain(
    call: Call,
    code: str | None = option(
        f"the same call in other frameworks: a list of {' '.join(TARGETS)}", "LIST",
        complete=make_list_completer(TARGETS),
        excludes=OTHER_RESULTS, why="--code prints lines and nothing else",
    ),
    check: bool = option(
        "with --code: run the lines where they can be run",
        needs="code", why="--check runs the lines that --code writes",
    ),
    python: str | None = option(
        "with --check: interpreter that has them", "PATH",
        needs="check", why="--python names the interpreter of --check",
    ),
    gradients: bool = option(
        "the formula of what flows back", flag="--grad",
        excludes=(*OTHER_RESULTS, "json", "code"),
        why="--grad prints a formula and nothing else",
    ),
) -> int:  # fmt: skip
    """The formula and a line per entry, or with `--code` the lines of other frameworks."""
    if gradients:
        return print_backward(call)
    if code is not None:
        return print_code(call, code, python, is_checked=check)
    from gscli.cli.call import check_outputs, show_run

    check_outputs(call.settings, draws=False)
    expected = call.load_expected()
    trace = call.run_in_memory()
    status = show_run(trace, call.settings, expected, explains=True)
    call.print_details(trace)
    return status


def print_backward(call: Call) -> int:
    """What flows back through the call: a sentence, and an equation for each input."""
    from gscli.cli.options import make_view_options
    from gscli.gradients import VALUE
    from gscli.gradients.conventions import choose_convention
    from gscli.views.lines import wrap_lines
    from gscli.views.words.formula import Formula

    trace = call.run_in_memory()
    has_gradient = any(trace.layout.value_names) or VALUE in trace.operator.attributes_by_name
    problem = f"no input of {trace.operator.name} has a gradient"
    check_rule(has_gradient, problem, "--grad", kind=UsageError)
    formula = Formula(trace)
    backward = formula.list_gradients(choose_convention(trace.operator.framework.name))
    ranges = [f"for {formula.ranges}"] * bool(formula.ranges)
    lines = [trace.title, formula.equation, *backward.values(), *ranges]
    sys.stdout.write(wrap_lines(lines, make_view_options(call.settings).width))
    return 0


def print_code(call: Call, code: str, python: str | None, *, is_checked: bool) -> int:
    """The lines for each target; 1 where a run of them does not give the same output, 66 where
    none is run that is to be.

    A call that is refused cannot be checked: its lines are printed, then the refusal is raised.
    """
    from gscli.codegen.code import MAX_INPUT_CELLS, generate_code, parse_targets
    from gscli.views.lines import wrap_lines

    operator, settings = call.operator, call.settings
    alone = ["--json=output"] * (settings.json == "output")
    refuse_flags(alone, "--code prints lines and nothing else")
    targets = parse_targets(code)
    plan, output, refusal, refused = call.plan.assume_validated(), None, "", None
    shapes = [array.shape for array in call.inputs.arrays.values()]
    try:
        if is_checked or max(map(prod, [plan.layout.output_shape, *shapes])) <= MAX_INPUT_CELLS:
            output = call.run_in_memory().output
        else:
            call.validate()
    except IndexRefused as error:
        if is_checked and settings.json is not None:
            raise
        refused, problem = error, f"{operator.framework.title} {operator.name} refuses this call"
        refusal = f"{problem}{', which is not run' * is_checked}: {error.where}"
    lines = generate_code(operator, plan, output, targets, call.inputs.origins, refusal)
    if is_checked and refused is None:
        from gscli.cli.commands.runtimes import warn_of_left_running
        from gscli.codegen.execution import run_checks

        lines = run_checks(lines, python)
        warn_of_left_running()
    screen = detect_screen(sys.stdout, settings.color, settings.width)
    make_text = partial(wrap_lines, lines.verdicts) if settings.quiet else lines.text
    print_report(settings._replace(quiet=False), lines.to_dict, partial(make_text, screen.width))
    if is_checked and refused is not None:
        raise refused
    wrong = {"not equal", "failed", "took too long"}
    results = {answer.run_result.get("result") for answer in lines.answers}
    if is_checked and results.isdisjoint({"equal", *wrong}):  # which is no check that was passed
        return ExitCode.UNREADABLE
    return int(not results.isdisjoint(wrong))


explain = make_operator_group(
    run_explain, "explain", "The formula with numbers, then the entries; --grad: what flows back.",
    ("output", "format", "in_place", "message", "engine", "step"),
)  # fmt: skip
