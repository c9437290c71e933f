"""A place: where the entries of a call go, as one operation of a target takes them."""

from __future__ import annotations

from dataclasses import dataclass

from gscli.lab.code import index_forms as forms
from gscli.lab.code.native import Native
from gscli.lab.code.steps import Value
from gscli.layout.axes import Shape


class Impossible(Exception):
    """A target cannot do the call, with the reason."""


@dataclass
class Place:
    """Prepared indices for `native`: one array (`index`), or a coordinate for each axis."""

    native: Native
    form: forms.IndexForm | forms.Direct
    index: Value | None = None
    cells: tuple[Value, ...] = ()
    grid: Shape = ()
    live: Value | None = None
    drops: bool = False
    """Whether entries that are not live already point where nothing is written."""
