"""The options that every operator command shares, declared once: for Typer, help and `Settings`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gscli.terminal import ColorChoice


@dataclass(frozen=True)
class Shared:
    """One shared option: its flags, type and help; `environment` is a GSCLI_ variable."""

    name: str
    flags: tuple[str, ...]
    kind: type
    default: object
    help: str
    metavar: str = ""
    choices: tuple[str, ...] = ()
    environment: str = ""


@dataclass(frozen=True)
class Settings:
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
    extra: dict[str, object] = field(default_factory=dict)


SHARED: tuple[Shared, ...] = (
    Shared("output", ("-o", "--output"), str, None, "write the result to FILE; - is stdout", "FILE"),
    Shared("format", ("-f", "--format"), str, None, "format of the result", "NAME",
           ("npy", "npz", "json", "csv", "tsv", "pb", "safetensors", "h5")),
    Shared("json", ("--json",), str, None, "print one JSON document; --json=output only the result",
           "PART", ("document", "output")),
    Shared("strict", ("--strict",), bool, False,
           "refuse what is only warned about: open duplicates, widened indices"),
    Shared("in_place", ("--in-place",), bool, False, "patch the data file (.npy) itself"),
    Shared("max_bytes", ("--max-bytes",), str, None,
           "limit for inputs built in memory and for the result (default 1G)", "SIZE", (),
           "GSCLI_MAX_BYTES"),
    Shared("dtype", ("--dtype",), str, None, "element type of data that does not carry one", "NAME"),
    Shared("show", ("--show",), str, None, "tensors to draw: data,indices,updates,output", "LIST"),
    Shared("full", ("--full",), bool, False, "draw every cell, however many"),
    Shared("rows", ("--rows",), int, None, "rows to draw of a large tensor", "N"),
    Shared("edge", ("--edge",), int, 1, "rows and columns to draw at the edges", "N"),
    Shared("slice", ("--slice",), str, None, "draw a part only, e.g. 0,:,::2", "TEXT"),
    Shared("precision", ("--precision",), int, None, "digits after the point", "N"),
    Shared("limit", ("--limit",), int, None, "entries to list", "N"),
    Shared("step", ("--step",), str, None, "one entry at a time; N shows that step, all every one",
           "N"),
    Shared("svg", ("--svg",), str, None, "also save the picture as SVG", "FILE"),
    Shared("html", ("--html",), str, None, "also save an interactive page", "FILE"),
    Shared("quiz", ("--quiz",), bool, False, "the page hides the output and asks for it"),
    Shared("plain", ("--plain",), bool, False, "plain sentences instead of a picture", "", (),
           "GSCLI_PLAIN"),
    Shared("quiet", ("-q", "--quiet"), bool, False, "print no picture"),
    Shared("verbose", ("-v", "--verbose"), bool, False, "also shapes, dtypes and time"),
    Shared("color", ("--color",), str, "auto", "auto, always or never", "WHEN",
           ("auto", "always", "never"), "GSCLI_COLOR"),
    Shared("palette", ("--palette",), str, "okabe", "okabe, mono or 16", "NAME",
           ("okabe", "mono", "16"), "GSCLI_PALETTE"),
    Shared("width", ("--width",), int, None, "columns to draw in", "N", (), "GSCLI_WIDTH"),
    Shared("debug", ("--debug",), bool, False, "show the traceback of a bug"),
)  # fmt: skip
