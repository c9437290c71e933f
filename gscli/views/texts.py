"""What stands in the cells of a sheet, `was → is` and `is ≠ expected` too, and at its heads.

Numbers have one format for all tensors that belong together, from the shown cells only: fixed point
with the fewest digits that lose nothing, at most four; scientific for the whole group when four
digits would lose a small value or the numbers grow too wide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf, isinf

import numpy as np

from gscli.base.arrays import Array, BoolArray, decode_bytes, is_float_dtype, unequal_cells
from gscli.base.records import Record
from gscli.base.words import dtype_max, dtype_min
from gscli.plan.indices import IndexOutcome
from gscli.views.look import UTF8, Signs, ViewOptions, choose_signs
from gscli.views.sheet import SheetPosition, VisibleTensor
from gscli.views.subject import Mark

MOST_DIGITS = 4
_STRING_CELLS = 12

# Characters of a value that is written with all its digits.
_WIDEST = 40

_LARGE = 1e6
_SMALL = 1e-4
_WIDEST_EXACT = 12

# The greatest values of wide types; names of these and of the least, by type and digits.
_GREATEST = {dtype: dtype_max(dtype) for dtype in ("int32", "int64", "float32", "float64")}
LIMIT_NAMES = {
    (dtype, str(np.dtype(dtype).type(limit(dtype)))): f"{word} {dtype}"
    for dtype in _GREATEST
    for word, limit in (("least", dtype_min), ("greatest", dtype_max))
}

# Relative error that is not worth a digit: half a unit in the last place, and for the wide types a
# little more, so that 0.1 + 0.2 is 0.3.
_SLACK = {"float64": 9e-16, "float32": 2.4e-7, "float16": 4.9e-4, "bfloat16": 3.9e-3}
DEFAULTS = ViewOptions()

# Floats that are looked at in a go.
_BLOCK = 1 << 20


class NumberFormat(Record):
    """How floats of one group are written; other kinds need no choice. `signs` cut long strings.

    `names_limits`: in cells the least and the greatest value of a wide type have names, for their
    digits would fill the line.
    """

    digits: int = 1
    scientific: bool = False
    signs: Signs = UTF8
    names_limits: bool = False

    def format_column(self, array: Array) -> list[str]:
        """Every value, row-major.

        >>> NumberFormat(2).format_column(np.array([1.5, np.nan]))
        ['1.50', 'nan']
        """
        texts, kind = self._format(array), array.dtype.name
        names = LIMIT_NAMES if self.names_limits else {}
        return [names.get((kind, text), text) for text in texts]

    def format_cells(self, array: Array) -> Array:
        """Every value where it stands in the array."""
        return np.array(self.format_column(array), object).reshape(array.shape)

    def _format(self, array: Array) -> list[str]:
        array = decode_bytes(array)
        if array.dtype.kind in "UTO":
            texts = (self.signs.sanitize(str(value), 80) for value in array.reshape(-1).tolist())
            return [f'"{self.signs.truncate(text, _STRING_CELLS)}"' for text in texts]
        if array.dtype.kind == "b":
            return ["T" if value else "F" for value in array.reshape(-1).tolist()]
        if array.dtype.kind == "c":
            both = zip(self._reals(array.real), self._reals(array.imag), strict=True)
            return [f"{real}{'' if other.startswith('-') else '+'}{other}j" for real, other in both]
        if is_float_dtype(array.dtype):
            return self._reals(array)
        return list(map(str, array.reshape(-1).tolist()))

    def format_value(self, value: object) -> str:
        """One value in a sentence, where nothing stands below it: no zeros at its end.

        >>> NumberFormat(4).format_value(99.5)
        '99.5'
        """
        return self.format_values(np.asarray(value))[0]

    def format_values(self, array: Array) -> list[str]:
        """Every value as in a sentence, row-major."""
        return [strip_zeros(text) for text in self._format(array)]

    def format_exact(self, value: object) -> str:
        """One value with all its digits; of a text the first 40 characters.

        >>> NumberFormat(4).format_exact(1.00001)
        '1.00001'
        """
        text = self.signs.sanitize(str(value), _WIDEST)
        return f'"{text}"' if isinstance(value, str) else text

    def format_columns(self, arrays: Sequence[Array]) -> list[Sequence[str]]:
        """The values of arrays of one size, each row-major, told apart place by place.

        >>> NumberFormat(1).format_columns([np.array([1.1, 2]), np.array([1.10009, 2])])
        [('1.1', '2.0'), ('1.10009', '2.0')]
        """
        texts = zip(*map(self.format_column, arrays), strict=True)
        values = zip(*(array.flat for array in arrays), strict=True)
        return [*zip(*map(self.tell_apart, texts, values), strict=True)] or [()] * len(arrays)

    def tell_apart(self, texts: Sequence[str], values: Sequence[object]) -> Sequence[str]:
        """Texts for values of one cell, all digits where fewer would make different ones equal."""
        exact = [*map(self.format_exact, values)]
        return exact if len({*texts}) < len({*exact}) else texts

    def _reals(self, array: Array) -> list[str]:
        values = array.astype(np.float64).reshape(-1).tolist()
        pattern = f"%.{self.digits}{'e' if self.scientific else 'f'}\n"
        texts = (pattern * len(values) % tuple(values)).split("\n")[:-1]
        limit = _GREATEST.get(array.dtype.name, inf)
        # The largest of float64 rounded up would be read as an infinity.
        return [
            str(exact) if abs(value) == limit or isinf(float(text)) else text
            for text, value, exact in zip(texts, values, array.reshape(-1), strict=True)
        ]


def strip_zeros(text: str) -> str:
    """Without the zeros behind the point that say nothing.

    >>> strip_zeros("1.50"), strip_zeros("100"), strip_zeros("2.0e+05"), strip_zeros('"1.0"')
    ('1.5', '100', '2.0e+05', '"1.0"')
    """
    plain = "." in text and text.replace(".", "", 1).lstrip("-").isdigit()
    return text.rstrip("0").rstrip(".") if plain else text


def choose_number_format(samples: Iterable[Array], options: ViewOptions = DEFAULTS) -> NumberFormat:
    """The one format for the floats among `samples`.

    >>> choose_number_format([np.array([1.0, 2.25]), np.array([3.5])])[:2]
    (2, False)
    >>> choose_number_format([np.array([1.0, 2e-7])])[:2]
    (0, True)
    >>> greatest = np.finfo(np.float64).max
    >>> choose_number_format([greatest]).format_value(greatest)
    '1.7976931348623157e+308'
    """
    parts = [part for sample in samples for part in _real_parts(sample)]
    most = MOST_DIGITS if options.precision is None else options.precision
    return NumberFormat(*_choose_digits(parts, most), choose_signs(options))


def _choose_digits(reals: Sequence[Array], most: int) -> tuple[int, bool]:
    """Digits after the point, and whether with an exponent."""
    sizes = (np.abs(values) for values, _ in _iter_finite(reals))
    largest = max((float(part.max()) for part in sizes if part.size), default=0.0)
    exact = next((d for d in range(most + 1) if _is_exact(reals, d)), None)
    width = len(f"{largest:.{most if exact is None else exact}f}") if largest < 1e300 else 300  # noqa: PLR2004
    if exact is not None and (largest < _LARGE or width <= _WIDEST_EXACT):
        return exact, False
    small = (((values != 0) & (np.abs(values) < _SMALL)).any() for values, _ in _iter_finite(reals))
    if largest < _LARGE and not any(small):
        return most, False
    return next((d for d in range(most) if _is_exact(reals, d, scaled=True)), most), True


def _real_parts(sample: Array) -> list[Array]:
    """The floats of a sample, flat, in blocks that take little memory as float64."""
    if sample.dtype.kind == "c":
        return [*_real_parts(sample.real), *_real_parts(sample.imag)]
    blocks = sample.size // _BLOCK + 1
    return np.array_split(sample.reshape(-1), blocks) if is_float_dtype(sample.dtype) else []


def _iter_finite(reals: Sequence[Array], *, scaled: bool = False) -> Iterator[tuple[Array, float]]:
    """Finite values or their mantissas, block by block, without limits; the slack of their type."""
    for real in reals:
        values = real.astype(np.float64)
        values = values[np.abs(values) < _GREATEST.get(real.dtype.name, inf)]
        if scaled:
            values = values[values != 0]
            values = values / 10.0 ** np.floor(np.log10(np.abs(values)))
        yield values, _SLACK.get(real.dtype.name, 0.0)


def _is_exact(reals: Sequence[Array], digits: int, *, scaled: bool = False) -> bool:
    with np.errstate(all="ignore"):
        return all(
            bool((np.abs(np.round(values, digits) - values) <= slack * np.abs(values)).all())
            for values, slack in _iter_finite(reals, scaled=scaled)
        )


class CellTexts:
    """The texts of one sheet by plane, row and column (`cells`).

    `marked` and `outcomes`: marks and what became of numbers by place. `difference_tails`: the ends
    of texts that tell what a cell should hold.
    """

    def __init__(self, sheet: VisibleTensor, numbers: NumberFormat) -> None:
        self.sheet, self.signs, self.numbers = sheet, numbers.signs, numbers
        subject = sheet.subject
        self.marked = sheet.marks_by_position(subject.marks)
        self.outcomes = sheet.outcomes_by_position(subject.outcomes)
        self.outcomes |= self.dropped_updates(self.marked)
        self.cells = numbers.format_cells(sheet.values)
        self.cells[~sheet.known] = self.signs.point
        self._write_changes()
        differing = sheet.differing_mask
        self.difference_tails = self.write_differences(self.cells, sheet.values, differing)

    def dropped_updates(
        self, marked: Mapping[SheetPosition, Sequence[Mark]]
    ) -> dict[SheetPosition, IndexOutcome]:
        """Updates that no entry writes anywhere."""
        if self.sheet.subject.role != "updates":
            return {}
        pairs = marked.items()
        return {place: "outside" for place, marks in pairs if all(mark.alarm for mark in marks)}

    def _write_changes(self) -> None:
        """Marked cells that changed are written `was → is`."""
        before, after = self.sheet.previous, self.sheet.values
        texts = self.numbers.format_cells(before)
        changed = unequal_cells(before, after) if texts.size else texts
        for place in map(tuple, np.argwhere(changed).tolist()):
            if not all(mark.alarm for mark in self.marked.get(place, ())):
                both, pair = (texts[place], self.cells[place]), (before[place], after[place])
                self.cells[place] = self.signs.arrow.join(self.tell_apart(both, pair))

    def tell_apart(self, texts: Sequence[str], values: Sequence[object]) -> Sequence[str]:
        """Texts of a cell without needless zeros; with all digits where they are the same."""
        return self.numbers.tell_apart([*map(strip_zeros, texts)], values)

    def write_differences(
        self, cells: Array, values: Array, differing: BoolArray
    ) -> dict[SheetPosition, str]:
        """Write cells that differ from the expectation as `is≠expected`; the ends of texts."""
        right, tails = self.sheet.expected, dict[SheetPosition, str]()
        texts, shown = map(self.numbers.format_cells, (right, values))
        for place in map(tuple, np.argwhere(differing).tolist()):
            before, arrow, now = cells[place].rpartition(self.signs.arrow)
            both, pair = (shown[place], texts[place]), (values[place], right[place])
            text, expected = self.tell_apart(both, pair)
            tails[place] = self.signs.differs + expected
            cells[place] = before + arrow + max(strip_zeros(now), text, key=len) + tails[place]
        return tails
