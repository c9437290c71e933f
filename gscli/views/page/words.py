"""What the page says of an entry: the path to its value, for the eye and aloud. No markup.

A sentence stands beside the picture and in its live region, so it must read well aloud: words for
the signs of the tables, and the numbers of small slices written out.
"""

from __future__ import annotations

from gscli.base.text import counted
from gscli.traces.trace import How, Trace
from gscli.views.words.below import counted_words, counts
from gscli.views.words.facts import VERBS, Brackets, Teller
from gscli.views.words.vocabularies import Vocabulary

SPOKEN: dict[How, str] = {"wrapped": "wraps", "clipped": "clipped", "skipped": "out of range"}
"""The words for the signs beside index numbers."""

PATHS = Vocabulary(
    Brackets(4, "[", ", ", "]"),
    {
        "empty": ("{index} {arrow} an empty slice", ""),
        "filled": ("{index}{why} {arrow} {result} is filled with", "{new}"),
        "dropped": ("{index}{why}, so {unused} is dropped", ""),
        "read": ("{index}{moved} {arrow} {target} {arrow} {result} =", "{new}"),
        "read many": ("{index}{moved} {arrow} {target} {arrow} {result}, {size}", ""),
        "unknown": ("{index}{moved} {arrow} {target} is written", ""),
        "set": ("{index}{moved} {arrow} {target}: {old} becomes", "{new}"),
        "met": ("{index}{moved} {arrow} {target}: {sum} =", "{new}"),
        "first": ("{index}{moved} {arrow} {target}: starts with", "{new}"),
        "": ("{index}{moved} {arrow} {target} {by}, {size}", ""),
    },
    {
        "again": ", again after {again}",
        "lost": ", {lost} dropped outside",
        "fresh": ", the value of data is not counted",
    },
)
"""What leads to a value, which may be empty, and the value."""

MOVES = Vocabulary(
    PATHS.brackets,
    {
        "read": ("{new}", ""),
        "read many": ("{target}", ""),
        "set one": ("{update}", "{old} → {new}"),
        "met one": ("{update}", "{sum} = {new}"),
        "first one": ("{update}", "{new}"),
        "": ("{result}", ""),
    },
)
"""What an entry moves, and how one cell came to its value."""


def act(trace: Trace) -> str:
    """What an entry does with its value, as one verb."""
    return "copy" if trace.kind == "gather" else VERBS[trace.reduction].act


def counts_line(trace: Trace) -> str:
    """Entries, cells touched, cells hit more than once, and what that leaves open."""
    entries, found = counted(trace.entry_count, "entry", "entries"), counts(trace)
    if found is None:
        return entries
    left_open = trace.layout.open_order if found.twice else ""
    note = f" {left_open}; here the last one stays." if left_open else ""
    return f"{entries}: {counted_words(trace, found)}.{note}"


def shape_words(shape: tuple[int, ...]) -> str:
    """A shape as the page writes it.

    >>> shape_words((4, 3)), shape_words(())
    ('[4×3]', 'one number')
    """
    return f"[{'×'.join(map(str, shape))}]" if shape else "one number"


def opening(teller: Teller) -> str:
    """How the output starts."""
    layout = teller.trace.layout
    if layout.kind == "gather":
        return "Nothing is read yet: output is empty."
    if layout.data is None:
        return f"Nothing is written yet: every cell of output is {teller.fill()}."
    return f"Nothing is written yet: output is a copy of {layout.data}."


def finish(rest: int) -> str:
    """What the last step leaves to be said, where `rest` entries are not told."""
    more = counted(rest, "entry follows", "entries follow")
    return f"The other {more}. This is the result." if rest else ""
