"""`gscli explain OPERATOR …`."""

from __future__ import annotations

import sys
from typing import Any

from gscli.base import UsageError
from gscli.base.records import Record
from gscli.cli.completion import list_of
from gscli.cli.options import Settings, SharedOption, print_document, screen
from gscli.cli.tree import tree
from gscli.frameworks.operator import Operator

TARGETS = ("all", "numpy", "torch", "jax", "tensorflow", "onnx", "openvino", "stablehlo")
"""What `--code` takes, without importing what writes it."""


def explain() -> Any:
    """Every operator under explain."""
    return tree(
        _Explain(), "explain", "The operator's formula with real numbers, then its entries."
    )


class _Explain:
    """The formula and the entries, or with `--code` the lines of other frameworks."""

    options = (
        SharedOption(
            f"the same call in other frameworks: a list of {' '.join(TARGETS)}", "LIST",
            name="code", complete=list_of(TARGETS), heading="Options",
        ),
        SharedOption(
            "with --code: run the lines where they can be run",
            name="check", kind=bool, default=False, heading="Options",
        ),
        SharedOption(
            "with --check: interpreter that has them", "PATH", name="python", heading="Options"
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
        wish = CodeWish(**own)
        wish.judge()
        if wish.code is not None:
            return tell_code(operator, words, texts, settings, wish)
        return explain_operator(operator, words, texts, settings)


def explain_operator(
    operator: Operator, words: list[str], texts: dict[str, str], settings: Settings
) -> int:
    """The formula and a line per entry."""
    from gscli.cli.call import (
        Call,
        asked_expectation,
        check_requests,
        drawn_files,
        show_elsewhere,
        told,
    )
    from gscli.cli.call.pictures import explained
    from gscli.disk import mapped

    check_requests(settings)
    expected = asked_expectation(settings, words)
    call = Call(operator, words, texts, settings)
    trace = call.traced()
    expectation = expected.of(trace) if expected else None
    pictures = drawn_files(trace, settings, expectation)
    shown = explained(trace, settings) if settings.prints else ""
    mapped.check_unchanged(*trace.inputs.values())
    show_elsewhere(trace, settings, expectation, pictures)
    sys.stdout.write(shown)
    return told(expectation, settings, below=True)


class CodeWish(Record):
    """What was asked for: the list of targets, whether to run the lines, and by what."""

    code: str | None
    check: bool
    python: str | None

    def judge(self) -> None:
        """Options that mean nothing without another one are mistakes."""
        if self.code is None and (self.check or self.python):
            raise UsageError(
                "--check runs the lines that --code writes", hint="add --code all, or --code torch"
            )
        if self.python and not self.check:
            raise UsageError("--python names the interpreter of --check", hint="add --check")


def tell_code(
    operator: Operator, words: list[str], texts: dict[str, str], settings: Settings, wish: CodeWish
) -> int:
    """The lines for each target; 1 where a run of them does not give the same output."""
    from gscli.cli.call import Call
    from gscli.codegen.code import targets_named, written

    assert wish.code is not None
    _refuse_others(settings)
    targets = targets_named(wish.code)
    call = Call(operator, words, texts, settings)
    if wish.check:
        from gscli.cli.commands.runtimes import warn_of_left_running
        from gscli.codegen.execution import checked, judge_sizes

        judge_sizes(call.inputs.arrays)
        trace = call.traced()
        found = written(operator, trace.plan, trace.output, targets, call.inputs.origins)
        found = checked(found, wish.python)
        warn_of_left_running()
    else:
        with call.located_errors():
            plan = call.validate()
        found = written(operator, plan, None, targets, call.inputs.origins)
    if settings.json is not None:
        print_document(found.to_dict())
    elif not settings.quiet:
        sys.stdout.write(found.text(screen(sys.stdout, settings.color, settings.width).width))
    wrong = ("not equal", "failed", "took too long")
    return int(any(answer.checked.get("result") in wrong for answer in found.answers))


def _refuse_others(settings: Settings) -> None:
    """Lines are all that is printed: results and pictures are other runs."""
    given = [
        f"--{name.replace('_', '-')}"
        for name in ("output", "format", "expect", "in_place", "step", "svg", "html")
        if getattr(settings, name)
    ]
    if settings.json == "output":
        given.append("--json=output")
    if given:
        raise UsageError(
            "--code prints lines and nothing else",
            where=" ".join(given),
            hint=f"leave out {' and '.join(given)}",
        )
