"""`gscli diff A B`.

Hold two tensors against each other; exit status 1 when they differ.

Types and shapes first, then values: integers, bool and text must be equal, other numbers equal
within the last bits of their type (--rtol, --atol), NaN equals NaN. Of containers, members of
one name are held against each other.

\b
Examples:
  gscli diff output.npy expected.npy
  gscli diff mine.npz theirs.npz --rtol 1e-3 --json
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gscli.base import UsageError
from gscli.base.words import format_count, sanitize
from gscli.cli.building import complete_file, tool
from gscli.cli.options import JSON_OPTION, SHARED_OPTIONS, Settings, argument, print_json

if TYPE_CHECKING:
    from gscli.files.request import Member

RTOL = SHARED_OPTIONS["rtol"]._replace(help="difference allowed, times the value in B")
ATOL = SHARED_OPTIONS["atol"]._replace(help="difference allowed to all")


@tool("diff", JSON_OPTION, RTOL, ATOL, "max_bytes", "limit", "quiet", "color", "width", "debug")
def diff(
    first: str = argument("A", "FILE[::NAME], - or inline", complete_file),
    second: str = argument("B", "what A should be", complete_file),
    *,
    settings: Settings,
) -> int:
    if first == second == "-":
        raise UsageError("only one input can be - (standard input)", hint="put one into a file")
    from gscli.cli.call.results import make_tolerance, render_difference
    from gscli.files import list_members, load
    from gscli.lab.difference import compare_tensors, difference_sentences
    from gscli.lab.expectation import cast_untyped

    listed = [list_members(text, max_bytes=settings.max_bytes) for text in (first, second)]
    pairs = _pair_members(first, second, listed)
    tolerance = make_tolerance(settings)
    rows = list[dict[str, object]]()
    for name, actual_word, expected_word in pairs:
        shown = sanitize(name)
        if actual_word is None or expected_word is None:
            missing, holder = ("A", second) if actual_word is None else ("B", first)
            rows.append({"name": name, "equal": False, "missing": missing})
            _print_unless_quiet(f"{shown} is only in {sanitize(holder)}\n", settings)
            continue
        left, right = (
            load(word, name="tensor", max_bytes=settings.max_bytes)
            for word in (actual_word, expected_word)
        )
        actual = cast_untyped(left, right.array) if right.is_typed else left.array
        differences = compare_tensors(actual, cast_untyped(right, actual), tolerance)
        rows.append({**({"name": name} if name else {}), **differences.to_dict()})
        sentences = difference_sentences(differences, sanitize(expected_word))
        if differences.is_equal:
            sentences = [f"equal: all {format_count(differences.cell_count, 'cell')}"]
        sentences[0] = f"{shown}: {sentences[0]}" if name else sentences[0]
        _print_unless_quiet(render_difference(differences, sentences, settings), settings)
    equal = all(row["equal"] for row in rows)
    if settings.json is not None:
        document = rows[0] if len(rows) == 1 and "name" not in rows[0] else {
            "equal": equal, "members": rows,
        }  # fmt: skip
        print_json(document)
    return int(not equal)


def _print_unless_quiet(text: str, settings: Settings) -> None:
    if settings.json is None and not settings.quiet:
        sys.stdout.write(text)


def _pair_members(
    first: str, second: str, listed: Sequence[Sequence[Member] | None]
) -> list[tuple[str, str | None, str | None]]:
    """What is held against what: name, and the words that load each side (None: not there)."""
    names = [[member.name for member in side or ()] for side in listed]
    if None in listed or [""] in names or [*map(len, names)] == [1, 1]:
        return [("", first, second)]
    return [
        (name, f"{first}::{name}" if name in names[0] else None,
         f"{second}::{name}" if name in names[1] else None)
        for name in dict.fromkeys([*names[0], *names[1]])
    ]  # fmt: skip
