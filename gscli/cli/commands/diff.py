"""`gscli diff A B`.

Hold two tensors against each other; exit status 1 when they differ.

Types and shapes first, then values: integers, bool and text must be equal, other numbers equal
within the last bits of the coarser type (--rtol, by type in gscli help porting, --atol), NaN equals
NaN. How far apart the numbers are that are equal by this alone is told. Of containers, members of
one name are held against each other.

\b
Examples:
  gscli diff output.npy expected.npy
  gscli diff mine.npz theirs.npz --rtol 1e-3 --json
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gscli.base.words import sanitize
from gscli.cli.building import complete_file, tool
from gscli.cli.options import JSON_OPTION, SHARED_OPTIONS, Settings, argument, print_report
from gscli.frameworks import check_single_stdin

if TYPE_CHECKING:
    from gscli.files.request import Member

RTOL = SHARED_OPTIONS["rtol"]._replace(help="difference allowed, times the value in B")
ATOL = SHARED_OPTIONS["atol"]._replace(help="difference allowed to all")
DTYPE = SHARED_OPTIONS["dtype"]._replace(help="element type of both, converted without loss")


@tool(
    "diff", JSON_OPTION, RTOL, ATOL, DTYPE, "max_bytes", "limit", "quiet", "color", "width", "debug"
)
def diff(
    first: str = argument("A", "FILE[::NAME], - or inline", complete_file),
    second: str = argument("B", "what A should be", complete_file),
    *,
    settings: Settings,
) -> int:
    check_single_stdin([first, second])
    from gscli.cli.call.results import make_tolerance, render_difference
    from gscli.files import list_members, load
    from gscli.lab.difference import compare_tensors, difference_sentences

    listed = [list_members(text, max_bytes=settings.max_bytes) for text in (first, second)]
    tolerance, reading = make_tolerance(settings), {"name": "tensor", **settings.reading}
    rows, texts = list[dict[str, object]](), list[str]()
    for name, actual_word, expected_word in _pair_members(first, second, listed):
        if actual_word is None or expected_word is None:
            missing, holder = ("A", second) if actual_word is None else ("B", first)
            rows.append({"name": name, "equal": False, "missing": missing})
            texts.append(f"{sanitize(name)} is only in {sanitize(holder)}\n")
            continue
        left, right = load(actual_word, **reading), load(expected_word, **reading)
        actual = left.cast_to_match(right.array) if right.is_typed else left.array
        differences = compare_tensors(actual, right.cast_to_match(actual), tolerance)
        rows.append({**({"name": name} if name else {}), **differences.to_dict()})
        sentences = difference_sentences(differences, sanitize(expected_word))
        sentences[0] = f"{sanitize(name)}: {sentences[0]}" if name else sentences[0]
        texts.append(render_difference(differences, sentences, settings))
    equal = all(row["equal"] for row in rows)
    document = rows[0] if rows and "name" not in rows[0] else {"equal": equal, "members": rows}
    print_report(settings, lambda: document, lambda: "".join(texts))
    return int(not equal)


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
