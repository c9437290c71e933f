"""One format for the numbers that belong together."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from gscli.views.look import ViewOptions
from gscli.views.texts import NumberFormat, choose_number_format


def texts(*values: object, dtype: object = np.float64, precision: int | None = None) -> list[str]:
    array = np.array(values, dtype)
    return choose_number_format([array], ViewOptions(precision=precision)).format_column(array)


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ((1, 2), np.float32, ["1", "2"]),
        ((1, 2.25), np.float32, ["1.00", "2.25"]),
        ((0.1, 0.2), np.float32, ["0.1", "0.2"]),
        ((0.1 + 0.2, 1), np.float64, ["0.3", "1.0"]),
        ((1 / 3, 1), np.float64, ["0.3333", "1.0000"]),
        ((3.140625, 1), ml_dtypes.bfloat16, ["3.14", "1.00"]),
        ((1e-5, 1), np.float64, ["1e-05", "1e+00"]),
        ((16_777_216, 1), np.float32, ["16777216", "1"]),
        ((1234567.891, 1), np.float64, ["1234567.891", "1.000"]),
        ((1234567.891234, 1), np.float64, ["1.2346e+06", "1.0000e+00"]),
        ((np.nan, np.inf, -np.inf), np.float64, ["nan", "inf", "-inf"]),
        ((-0.0, 1.5), np.float64, ["-0.0", "1.5"]),
        ((True, False), np.bool_, ["T", "F"]),
        ((2**64 - 1, 0), np.uint64, ["18446744073709551615", "0"]),
        ((7, -8), ml_dtypes.int4, ["7", "-8"]),
        ((1 + 2j, -0.5j), np.complex64, ["1.0+2.0j", "-0.0-0.5j"]),
        (("a", "b\x1b[1m"), np.str_, ['"a"', '"b\\x1b[1m"']),
    ],
)
def test_texts(values: tuple[object, ...], dtype: object, expected: list[str]) -> None:
    assert texts(*values, dtype=dtype) == expected


def test_a_small_value_alone_does_not_make_the_group_scientific() -> None:
    assert texts(0.0001, 1.5) == ["0.0001", "1.5000"]


def test_long_strings_are_cut_at_twelve_cells() -> None:
    assert texts("x" * 30, dtype=np.str_) == ['"' + "x" * 11 + '…"']
    assert texts("日本語日本語日本語", dtype=np.str_) == ['"日本語日本…"']


@pytest.mark.parametrize(("precision", "expected"), [(0, "2"), (1, "1.6"), (6, "1.625")])
def test_precision_is_the_most_digits(precision: int, expected: str) -> None:
    assert texts(1.625, precision=precision) == [expected]


def test_old_and_new_share_a_format() -> None:
    assert choose_number_format([np.array([1.0]), np.array([0.25])]) == NumberFormat(2)


def test_integers_do_not_decide_the_format_of_floats() -> None:
    assert choose_number_format([np.array([10**9]), np.array([0.5])]) == NumberFormat(1)
