"""The specification's loop walked backwards, number by number: the second opinion on gradients.

Every step forward, `cell = f(cell, update)`, has a step back. `steps` are the loop's, in order: the
cell that each update meets, or None for one that meets no cell.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

# What of a gradient stays for the cell's old value, and what passes to the update.
Slopes = tuple[float, float]


# A number and its slope.
Dual = tuple[float, float]


def gather_back(cells: Sequence[int | None], size: int, cotangent: Sequence[float]) -> list[float]:
    """The gradient of data from that of the output, in the loop's order."""
    gradient = [0.0] * size
    for cell, flow in reversed(list(zip(cells, cotangent, strict=True))):
        if cell is not None:
            gradient[cell] += flow
    return gradient


def scatter_back(
    cells: Sequence[int | None],
    data: Sequence[float],
    updates: Sequence[float],
    cotangent: Sequence[float],
    reduction: str,
    *,
    include_self: bool = True,
    starts_from_data: bool = True,
) -> tuple[list[float], list[float]]:
    """Gradients of data and of the updates, of a reduction that is walked update by update.

    `starts_from_data`: a mean counts what stood there, unlike PyTorch's `initial` of segments.
    """
    counts = Counter(cell for cell in cells if cell is not None)
    fresh = not include_self and reduction != "none"
    value = list(data)
    for cell in counts:
        if fresh or reduction in ("div", "pow"):
            value[cell] = _IDENTITY.get(reduction, 0.0)
    old = [0.0] * len(updates)
    for number, cell in enumerate(cells):
        if cell is not None:
            old[number] = value[cell]
            value[cell] = _FORWARD[reduction](value[cell], updates[number])
    stays, gradient = list(cotangent), list(cotangent)
    for cell, count in counts.items():
        ends = _END[reduction](data[cell], value[cell], count + (include_self and starts_from_data))
        stays[cell], gradient[cell] = (slope * cotangent[cell] for slope in ends)
    passed = [0.0] * len(updates)
    for number, cell in reversed(list(enumerate(cells))):
        if cell is not None:
            kept, given = _BACK[reduction](old[number], updates[number])
            passed[number], gradient[cell] = gradient[cell] * given, gradient[cell] * kept
    for cell in counts:
        if reduction not in ("div", "pow"):
            stays[cell] = 0.0 if fresh else gradient[cell]
    return stays, passed


def scatter_slopes(
    cells: Sequence[int | None],
    data: Sequence[float],
    updates: Sequence[float],
    cotangent: Sequence[float],
    reduction: str,
    *,
    include_self: bool = True,
    starts_from_data: bool = True,
) -> tuple[list[float], list[float]]:
    """The same by dual numbers: each number moves in turn, and its slope goes forward."""
    numbers, gradient = [*data, *updates], list[float]()
    for moved in range(len(numbers)):
        duals = [(value, float(place == moved)) for place, value in enumerate(numbers)]
        own, new = duals[: len(data)], duals[len(data) :]
        terms = int(include_self and starts_from_data)
        ends = _run_on_duals(cells, own, new, reduction, include_self=include_self, own_terms=terms)
        gradient.append(sum(flow * slope for flow, (_, slope) in zip(cotangent, ends, strict=True)))
    return gradient[: len(data)], gradient[len(data) :]


def _run_on_duals(
    cells: Sequence[int | None], data: Sequence[Dual], updates: Sequence[Dual], reduction: str,
    *, include_self: bool, own_terms: int,
) -> list[Dual]:  # fmt: skip
    counts = Counter(cell for cell in cells if cell is not None)
    fresh = (not include_self and reduction != "none") or reduction in ("div", "pow")
    ends = list(data)
    for cell in counts if fresh else ():
        ends[cell] = (_IDENTITY.get(reduction, 0.0), 0.0)
    for cell, update in zip(cells, updates, strict=True):
        if cell is not None:
            (old, was), (new, own) = ends[cell], update
            kept, given = _BACK[reduction](old, new)
            ends[cell] = (_FORWARD[reduction](old, new), kept * was + given * own)
    for cell, count in counts.items():
        (value, was), (made, own) = data[cell], ends[cell]
        first, last = _END[reduction](value, made, count + own_terms)
        taken = reduction in ("div", "pow")
        ends[cell] = (made, first * was + last * own if taken else last * own)
    return ends


def _power_slopes(base: float, exponent: float, _: int) -> Slopes:
    own = exponent * base ** (exponent - 1) if exponent else 0.0
    return own, base**exponent * math.log(base)


def _keep(old: float, update: float, *, wins: bool) -> Slopes:
    takes = wins or (math.isnan(update) and not math.isnan(old))
    return (0.0, 1.0) if takes else (1.0, 0.0)


_FORWARD: dict[str, Callable[[float, float], float]] = {
    "none": lambda _, update: update,
    "add": lambda old, update: old + update,
    "sub": lambda old, update: old - update,
    "mean": lambda old, update: old + update,
    "sqrt_n": lambda old, update: old + update,
    "mul": lambda old, update: old * update,
    "div": lambda old, update: old * update,
    "pow": lambda old, update: old * update,
    "max": lambda old, update: update if _keep(old, update, wins=update > old)[1] else old,
    "min": lambda old, update: update if _keep(old, update, wins=update < old)[1] else old,
}

_BACK: dict[str, Callable[[float, float], Slopes]] = {
    "none": lambda _, __: (0.0, 1.0),
    "add": lambda _, __: (1.0, 1.0),
    "sub": lambda _, __: (1.0, -1.0),
    "mean": lambda _, __: (1.0, 1.0),
    "sqrt_n": lambda _, __: (1.0, 1.0),
    "mul": lambda old, update: (update, old),
    "div": lambda old, update: (update, old),
    "pow": lambda old, update: (update, old),
    "max": lambda old, update: _keep(old, update, wins=update > old),
    "min": lambda old, update: _keep(old, update, wins=update < old),
}

_IDENTITY = {"mul": 1.0, "div": 1.0, "pow": 1.0, "max": -math.inf, "min": math.inf}

# What is done after the last update, from data, the cell and how many values met there: slopes for
# data itself, which a quotient and a power take first, and for what the updates made.
_END: dict[str, Callable[[float, float, int], Slopes]] = {
    **dict.fromkeys(_FORWARD, lambda _, __, ___: (1.0, 1.0)),
    "mean": lambda _, __, terms: (1 / terms, 1 / terms),
    "sqrt_n": lambda _, __, terms: (1 / math.sqrt(terms), 1 / math.sqrt(terms)),
    "div": lambda data, product, _: (1 / product, -data / product**2),
    "pow": _power_slopes,
}
