"""`--expect FILE` and `gscli diff A B`: an answer held against another one."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from gscli import files
from gscli.base import UsageError
from gscli.base.records import Record
from gscli.base.words import counted, safe
from gscli.cli.options import Settings, print_document, view_options
from gscli.files.request import Member

if TYPE_CHECKING:
    from gscli.lab.difference import Difference, Tolerance
    from gscli.lab.expectation import Expectation
    from gscli.traces import Trace


class Expected(Record):
    """The expected answer, read before anything runs; an untyped one takes the result's type."""

    loaded: files.Loaded
    tolerance: Tolerance

    @classmethod
    def asked(cls, settings: Settings, words: Sequence[str]) -> Expected:
        """What `--expect` names; a tolerance without it is a mistake."""
        if settings.expect is None:
            name = "atol" if settings.rtol is None else "rtol"
            raise UsageError(f"--{name} goes with --expect", hint="add --expect FILE")
        if settings.expect == "-" and "-" in [*words, *settings.extra.values()]:
            raise UsageError(
                "only one input can be - (standard input)", where="--expect",
                hint="put the others into files",
            )  # fmt: skip
        return cls(_loaded(settings.expect, "expect", settings), tolerance_of(settings))

    def of(self, trace: Trace) -> Expectation:
        """The run held against it."""
        from gscli.lab.expectation import held_against

        return held_against(trace, self.loaded, self.tolerance)


def _loaded(text: str, name: str, settings: Settings) -> files.Loaded:
    return files.load(text, name=name, max_bytes=settings.max_bytes)


def tolerance_of(settings: Settings) -> Tolerance:
    """`--rtol` and `--atol` as numbers from 0 up."""
    from gscli.lab.difference import Tolerance

    relative, absolute = (_tolerance(name, settings) for name in ("rtol", "atol"))
    return Tolerance(relative, absolute or 0.0)


def _tolerance(name: str, settings: Settings) -> float | None:
    text = getattr(settings, name)
    if text is None:
        return None
    with suppress(ValueError):
        number = float(text)
        if math.isfinite(number) and number >= 0:
            return number
    raise UsageError(
        f"{name} takes a number", where=f"--{name} {safe(text, 60)}", valid="0, 1e-6, 0.5, …"
    )


def tell_expectation(found: Expectation, settings: Settings, *, below: bool, seen: int = 0) -> int:
    """Print it below the picture, unless nobody asked for words; 1 where the answers differ.

    `seen`: differing cells that the picture shows; where these are all, no table lists them again.
    """
    if settings.prints:
        told = found.sentences()
        letters = [found.letter(cell.at) for cell in found.difference.cells]
        text = (
            _worded(found.difference, told, settings, letters) if settings.plain
            else _drawn(found.difference, told, settings, letters, seen=seen)
        )  # fmt: skip
        sys.stdout.write("\n" * below + text)
    return int(not found.equal)


def _worded(
    found: Difference,
    told: Sequence[str],
    settings: Settings,
    letters: Sequence[str],
) -> str:
    """Sentences alone: each listed cell with both values and the entries that reach it."""
    from gscli.views.lines import wrapped
    from gscli.views.terminal.difference import cell_words

    options = view_options(settings)
    verdict, *others = told
    lines = [verdict, *cell_words(found, options, letters), *others]
    return "".join(f"{part}\n" for line in lines for part in wrapped(line, options.width))


def _drawn(
    found: Difference,
    told: Sequence[str],
    settings: Settings,
    letters: Sequence[str] = (),
    *,
    seen: int = 0,
) -> str:
    from gscli.views.lines import render
    from gscli.views.terminal.difference import DifferenceView

    options = view_options(settings)
    listed = seen < found.different
    return render(DifferenceView(found, told, options, letters, listed=listed), options)


def diff_files(first: str, second: str, settings: Settings) -> int:
    """Hold B against A, member by member where both are containers; 1 where anything differs."""
    if first == second == "-":
        raise UsageError("only one input can be - (standard input)", hint="put one into a file")
    from gscli.cli.work.tensors import held_by
    from gscli.lab.difference import difference, heading
    from gscli.lab.expectation import typed_as

    listed = [held_by(text, settings.max_bytes) for text in (first, second)]
    pairs = _pairs(first, second, listed)
    tolerance = tolerance_of(settings)
    rows, equal = list[dict[str, object]](), True
    for name, one, other in pairs:
        shown = safe(name)
        if one is None or other is None:
            equal = False
            missing = f"{shown} is only in {safe(first if other is None else second)}"
            rows.append({"name": name, "equal": False, "missing": (one is None and "A") or "B"})
            _say(f"{missing}\n", settings)
            continue
        left, right = (_loaded(text, "tensor", settings) for text in (one, other))
        actual = typed_as(left, right.array) if right.typed else left.array
        found = difference(actual, typed_as(right, actual), tolerance)
        equal = equal and found.equal
        rows.append({"name": name, **found.to_dict()} if name else found.to_dict())
        same = f"equal: all {counted(found.total, 'cell')}"
        told = [same] if found.equal else heading(found, safe(other))
        told[0] = f"{shown}: {told[0]}" if name else told[0]
        if settings.json is None and not settings.quiet:
            sys.stdout.write(_drawn(found, told, settings))
    if settings.json is not None:
        document = rows[0] if len(rows) == 1 and "name" not in rows[0] else {
            "equal": equal, "members": rows,
        }  # fmt: skip
        print_document(document)
    return int(not equal)


def _say(text: str, settings: Settings) -> None:
    if settings.json is None and not settings.quiet:
        sys.stdout.write(text)


def _pairs(
    first: str, second: str, listed: Sequence[Sequence[Member] | None]
) -> list[tuple[str, str | None, str | None]]:
    """What is held against what: name, and the words that load each side (None: not there)."""
    one, other = listed
    if one is None or other is None:
        return [("", first, second)]
    names = [[member.name for member in side] for side in (one, other)]
    if ([""] in names) or len(one) == len(other) == 1:
        return [("", first, second)]
    return [
        (name, f"{first}::{name}" if name in names[0] else None,
         f"{second}::{name}" if name in names[1] else None)
        for name in dict.fromkeys([*names[0], *names[1]])
    ]  # fmt: skip
