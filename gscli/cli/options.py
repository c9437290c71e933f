"""The options that every operator command shares, declared once: for Typer, help and `Settings`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from gscli.cli.terminal import ColorChoice

Heading = Literal["Result", "Picture", "Screen"]
"""The headings under which help lists the shared options."""


class Shared(NamedTuple):
    """One shared option: its flags, type and help; `environment` is a GSCLI_ variable."""

    name: str
    flags: tuple[str, ...]
    kind: type
    default: object
    help: str
    metavar: str = ""
    choices: tuple[str, ...] = ()
    environment: str = ""
    heading: Heading = "Result"


class Settings(NamedTuple):
    """The shared options of one run, parsed."""

    output: str | None = None
    format: str | None = None
    json: str | None = None
    strict: bool = False
    in_place: bool = False
    max_bytes: str | None = None
    dtype: str | None = None
    show: str | None = None
    full: bool = False
    rows: int | None = None
    edge: int = 1
    slice: str | None = None
    precision: int | None = None
    limit: int | None = None
    step: str | None = None
    svg: str | None = None
    html: str | None = None
    quiz: bool = False
    plain: bool = False
    quiet: bool = False
    verbose: bool = False
    color: ColorChoice = "auto"
    palette: Literal["okabe", "mono", "16"] = "okabe"
    width: int | None = None
    debug: bool = False
    extra: Mapping[str, object] = MappingProxyType({})

    @property
    def saves(self) -> bool:
        """The result itself is written, to a file or as data to stdout."""
        return self.output is not None or self.format is not None

    @property
    def prints(self) -> bool:
        """Pictures and words may go to stdout: no result goes there, and nobody asked for silence.

        >>> Settings().prints, Settings(html="-").prints, Settings(html="page.html").prints
        (True, False, True)
        """
        elsewhere = self.json is not None or "-" in (self.output, self.svg, self.html)
        return not (self.quiet or self.in_place or elsewhere)

    @property
    def draws(self) -> bool:
        """A picture goes to stdout: nothing else does, and `-o` is quiet unless one is asked for.

        >>> Settings().draws, Settings(output="a.npy").draws, Settings(output="a", full=True).draws
        (True, False, True)
        """
        asked = self.full or any((self.show, self.slice, self.step))
        return self.prints and (not self.saves or (asked and self.output is not None))


FORMATS = ("npy", "npz", "json", "csv", "tsv", "pb", "safetensors", "h5")

SHARED: tuple[Shared, ...] = (
    Shared("output", ("-o", "--output"), str, None,
           "write the result to FILE[::NAME] in place of a picture; - is stdout", "FILE"),
    Shared("format", ("-f", "--format"), str, None, "format of the result", "NAME",
           FORMATS),
    Shared("json", ("--json",), str, None,
           "print one JSON document, errors too; --json=output only the result", "",
           ("document", "output")),
    Shared("strict", ("--strict",), bool, False,
           "refuse what is only warned about: open duplicates, widened indices"),
    Shared("in_place", ("--in-place",), bool, False,
           "write a scatter's updates into the .npy file of data itself"),
    Shared("dtype", ("--dtype",), str, None,
           "element type of data and updates, converted without loss", "NAME"),
    Shared("max_bytes", ("--max-bytes",), str, None,
           "limit for inputs built in memory and for the result (default 1G)", "SIZE", (),
           "GSCLI_MAX_BYTES"),
    Shared("show", ("--show",), str, None, "tensors to draw: data,indices,updates,output", "LIST",
           (), "", "Picture"),
    Shared("full", ("--full",), bool, False, "draw every cell, however many", "", (), "",
           "Picture"),
    Shared("rows", ("--rows",), int, None, "rows to draw of a large tensor", "N", (), "",
           "Picture"),
    Shared("edge", ("--edge",), int, 1, "rows and columns to draw at the edges", "N", (), "",
           "Picture"),
    Shared("slice", ("--slice",), str, None, "draw a part only, e.g. 0,:,::2", "TEXT", (), "",
           "Picture"),
    Shared("precision", ("--precision",), int, None, "digits after the point", "N", (), "",
           "Picture"),
    Shared("limit", ("--limit",), int, None, "entries to list", "N", (), "", "Picture"),
    Shared("step", ("--step",), str, None, "one entry at a time; N shows only that step", "[N]",
           (), "", "Picture"),
    Shared("svg", ("--svg",), str, None, "also save the picture as SVG", "FILE", (), "", "Picture"),
    Shared("html", ("--html",), str, None, "also save an interactive page", "FILE", (), "",
           "Picture"),
    Shared("quiz", ("--quiz",), bool, False, "the page hides the output and asks for it", "", (),
           "", "Picture"),
    Shared("plain", ("--plain",), bool, False, "plain sentences in place of a picture", "", (),
           "GSCLI_PLAIN", "Screen"),
    Shared("quiet", ("-q", "--quiet"), bool, False, "print no picture", "", (), "GSCLI_QUIET",
           "Screen"),
    Shared("verbose", ("-v", "--verbose"), bool, False, "also shapes, dtypes and time on stderr",
           "", (), "GSCLI_VERBOSE", "Screen"),
    Shared("color", ("--color",), str, "auto", "colour in the picture", "WHEN",
           ("auto", "always", "never"), "GSCLI_COLOR", "Screen"),
    Shared("palette", ("--palette",), str, "okabe", "colours of the entries", "NAME",
           ("okabe", "mono", "16"), "GSCLI_PALETTE", "Screen"),
    Shared("width", ("--width",), int, None, "columns to draw in", "N", (), "GSCLI_WIDTH",
           "Screen"),
    Shared("debug", ("--debug",), bool, False, "show the traceback of a bug", "", (),
           "GSCLI_DEBUG", "Screen"),
)  # fmt: skip
