"""`gscli explain OPERATOR … --code LIST [--check]`."""

from __future__ import annotations

import sys

from gscli.base import UsageError
from gscli.base.records import Record
from gscli.cli.call import Call
from gscli.cli.options import Settings, print_document, screen
from gscli.frameworks.operator import Operator


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
    from gscli.codegen.code import targets_named, written

    assert wish.code is not None
    _refuse_others(settings)
    targets = targets_named(wish.code)
    call = Call(operator, words, texts, settings)
    if wish.check:
        from gscli.codegen.execution import checked, judge_sizes

        judge_sizes(call.inputs.arrays)
        trace = call.traced()
        found = written(operator, trace.plan, trace.output, targets, call.inputs.origins)
        found = checked(found, wish.python)
    else:
        with call.located_errors():
            plan = call.judged()
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
