"""What is said of each reduction, by everybody who tells of one."""

from __future__ import annotations

from gscli.base.records import Record
from gscli.layout.axes import Reduction


class ReductionWords(Record):
    """A reduction in words: its sign between numbers and booleans, what an entry does by it.

    One without a sign is written as a function. `moves`: what an update does to a cell, for the
    largest and smallest which of two values it keeps; `past`: what was done to a slice; `equation`:
    the assignment of one entry. Of several updates of one cell: `repeated` what became of them in
    the table of rules, `together` below a picture, `combines` as the name of a behaviour. `missing`
    says what else was done where another reduction was meant.
    """

    act: str
    sign: str = ""
    boolean: str = ""
    moves: str = ""
    past: str = "{target} becomes the {reduction} of itself and {result}"
    equation: str = "{target} = {reduction}({target}, {update})"
    repeated: str = ""
    together: str = "combined by {reduction}"
    combines: str = "updates are combined by {reduction}"
    missing: str = ""


REDUCTION_WORDS: dict[Reduction, ReductionWords] = {
    "none": ReductionWords(
        "write",
        moves="is written to",
        past="{target} becomes {result}",
        equation="{target} = {update}",
        combines="the last one wins",
        missing="the reduction is missing: updates replace what is there",
    ),
    "add": ReductionWords(
        "add", "+", "or", "is added to", "{result} is added to {target}", "{target} += {update}",
        repeated="summed", together="both are added", combines="updates add up",
        missing="updates are added",
    ),
    "sub": ReductionWords(
        "subtract", "-", "xor", "is subtracted from", "{result} is subtracted from {target}",
        "{target} -= {update}", repeated="all subtracted", missing="updates are subtracted",
    ),
    "mul": ReductionWords(
        "multiply", "×", "and", "is multiplied into", "{result} is multiplied into {target}",
        "{target} *= {update}", repeated="multiplied", missing="updates are multiplied",
    ),
    "div": ReductionWords(
        "divide", "/", "", "divides", "{target} is divided by {result}", "{target} /= {update}",
        repeated="divided by all",
    ),
    "pow": ReductionWords(
        "raise", "^", "", "is the exponent of", "{target} is raised to the power of {result}",
        "{target} **= {update}", repeated="raised to the product",
    ),
    "max": ReductionWords(
        "max", "", "or", "larger", repeated="largest kept",
        missing="the larger of cell and update is kept",
    ),
    "min": ReductionWords(
        "min", "", "and", "smaller", repeated="smallest kept",
        missing="the smaller of cell and update is kept",
    ),
    "mean": ReductionWords(
        "average", equation="{target} = mean of {own}every {update}",
        repeated="averaged", missing="updates are averaged",
    ),
    "sqrt_n": ReductionWords(
        "sum", past="{result} is added to the sum of {target}",
        equation="{target} = sum of every {update} / sqrt(how many)",
        repeated="summed, over the root of how many",
    ),
}  # fmt: skip
