"""Errors: their words are safe to print, whoever prints them."""

from __future__ import annotations

from gscli.base import MAX_PART_LENGTH, CaretLine, GscliError


def test_an_error_makes_its_own_words_safe() -> None:
    pointed = CaretLine("a\x1b", 0, 1)
    error = GscliError(
        "no\x07 file", where="a\x1b[31m.npy", details=("x\u202ey", pointed), valid="\n", hint="\r"
    )
    assert error.problem == r"no\x07 file"
    assert error.where == r"a\x1b[31m.npy"
    assert error.detail_items == (r"x\u202ey", pointed)
    assert (error.valid, error.hint) == (r"\n", r"\r")


def test_an_error_says_no_more_than_a_screen_holds() -> None:
    assert len(GscliError("a" * 5000).problem) == MAX_PART_LENGTH


def test_what_is_wrong_stands_behind_a_name_however_long() -> None:
    where = GscliError("", where=f"{'a' * 5000}: no such file").where
    assert where.endswith("a: no such file")
    assert len(GscliError("\x1b" * 5000).problem) == MAX_PART_LENGTH
