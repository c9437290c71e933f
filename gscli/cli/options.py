"""The options that commands share, declared once: for Typer, help, the manual and `Settings`.

And what the terminal (or pipe) on the other end takes: colour, width, character set.

Annotations of `Settings` are evaluated on purpose: kinds and choices are read from them.
"""

import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias, get_args, get_origin

from gscli.base import UsageError, check_rule
from gscli.base.records import Arguments, Record, group_pairs, set_defaults
from gscli.base.words import ALL_DTYPES, format_flag, quote_word

if TYPE_CHECKING:
    from gscli.views.look import ViewOptions

ColorChoice: TypeAlias = Literal["auto", "always", "never"]

FORMATS = ("npy", "npz", "json", "csv", "tsv", "pb", "safetensors", "h5")


# Set by the completion scripts of the shells; the words are in other variables then.
COMPLETION_VARIABLE = "_GSCLI_COMPLETE"

# The largest number that an option takes, unless it says otherwise.
MAX_NUMBER = 999_999_999

MAX_FLOAT = sys.float_info.max

# The range of numbers that may be negative.
ANY_NUMBER: dict[str, Any] = {"minimum": -(10**18), "maximum": 10**18}

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_byte_limit(text: str) -> int:
    """`--max-bytes`: a number with K, M, G or T.

    >>> parse_byte_limit("2G"), parse_byte_limit("1000")
    (2147483648, 1000)
    """
    number, unit = text.rstrip("iBb"), ""
    if number and number[-1].upper() in _UNITS:
        number, unit = number[:-1], number[-1].upper()
    with suppress(ValueError, OverflowError):
        size = int(float(number) * _UNITS[unit])
        if size >= 0:
            return size
    raise make_value_error("max-bytes", text, "a number of bytes", "e.g. 500M, 2G")


def parse_engine(text: str) -> str:
    """`--engine`: the address of a cluster, empty for one of this machine.

    >>> parse_engine("dask=tcp://host:8786"), parse_engine("dask")
    ('tcp://host:8786', '')
    """
    name, _, address = text.partition("=")
    where = f"--engine {text}"[:100]
    check_rule(name == "dask", "unknown engine", where, kind=UsageError, valid="dask, dask=ADDRESS")
    return address


RASTERS = (".png", ".pdf", ".jpg", ".jpeg", ".gif", ".webp")
PAGE_ENDINGS = (".html", ".htm")


def parse_output_path(flag: str, path: str, endings: Sequence[str] = ()) -> str:
    """A file or folder that is written, by the option `flag`; - is stdout.

    Pictures are SVG and pages HTML: other names would hold what their ending does not say.
    `endings`: those that a picture or a page may have, or none at all. A name that begins with - is
    the next option, where the name was left out; one without letters was a variable without value.

    >>> parse_output_path("--svg", "picture.svg")
    'picture.svg'
    """
    root, ending = os.path.splitext(path)
    where = f"{flag} {path}"[:200]
    is_name, hint = root[:1] not in ("", "-") or path == "-", f"{flag} ./{path or 'FILE'}"[:200]
    check_rule(is_name, f"{flag} takes the name of a file", where, kind=UsageError, hint=hint)
    is_known = ending.lower() in ("", *endings) if endings else ending.lower() not in RASTERS
    saved = "pages are saved as HTML" if ".html" in endings else "pictures are saved as SVG"
    problem = f"{saved}, not as {ending[1:].upper()}"
    name = quote_word(root + (endings or (".svg",))[0])
    others = "which a browser prints" if ".html" in endings else f"then rsvg-convert {name} -o FILE"
    hint = f"{flag if endings else '--svg'} {name}, {others}"
    check_rule(is_known, problem, where, kind=UsageError, hint=hint)
    return path


def make_value_error(name: str, text: str, kind: str, valid: str) -> UsageError:
    """The refusal of a word that is no value of an option."""
    where = name_variable(name, text) or f"--{name} {text}"
    return UsageError(f"{name} takes {kind}", where=where[:100], valid=valid)


def name_variable(name: str, text: str) -> str:
    """The variable that gives an option this value; empty where none does."""
    shared = SHARED_OPTIONS.get(name.replace("-", "_"))
    variable = shared.environment if shared else ""
    return f"{variable}={text}" * (os.environ.get(variable) == text)


class CommandOption(Record):
    """One option, of many commands or of one. `has_variable`: GSCLI_NAME sets its default.

    `kind`: bool, int, float, str, or what makes the value of a word; a number lies between
    `minimum` and `maximum`. `flag`: what it is called where the name is another. `shows_default`:
    help tells it.
    `alone`: its value where it stands without one. `excludes`: what it cannot stand with but where
    one of `unless` does, `needs`: what it is nothing without, `why`: the refusal. `complete`: what
    a shell offers for a word. `is_word`: it is a word of its own without a flag, `is_many`: all
    words that follow. `follows`: the one before it, whose value the completer takes too.
    `endings`: those of what is written at its value, as `parse_output_path` has them.
    """

    help: str
    metavar: str = ""
    short: str = ""
    choices: tuple[str, ...] = ()
    has_variable: bool = False
    heading: Literal["Options", "Result", "Picture", "Screen"] = "Options"
    name: str = ""
    kind: Callable[[str], Any] = str
    default: object = None
    minimum: float = 0
    maximum: float = MAX_NUMBER
    flag: str = ""
    shows_default: bool = False
    complete: Callable[..., list[str]] | None = None
    excludes: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    needs: str = ""
    why: str = ""
    alone: str = ""
    is_hidden: bool = False
    is_word: bool = False
    is_many: bool = False
    follows: str = ""
    endings: tuple[str, ...] | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """`-o` and `--output`; a word has none."""
        if self.is_word:
            return ()
        flag = self.flag or format_flag(self.name)
        return (self.short, flag) if self.short else (flag,)

    @property
    def environment(self) -> str:
        """The variable that sets its default; empty where none does."""
        return f"GSCLI_{self.name.upper()}" if self.has_variable else ""


# Options that change how a picture is drawn, and nothing else.
PICTURE_OPTIONS = ("show", "full", "rows", "edge", "slice", "precision", "step", "limit")

# What cannot stand with an option that prints a text of its own.
OTHER_RESULTS = (
    "output", "format", "expect", "in_place", "svg", "html", "plain", "verbose", *PICTURE_OPTIONS,
)  # fmt: skip

# What a field of `Settings` or a parameter of a command's function has for its default.
option: Callable[..., Any] = CommandOption
output_option = partial(option, endings=())


def argument(
    metavar: str, text: str, complete: Callable[..., list[str]] | None = None,
    default: object = ..., **facts: object,
) -> Any:  # fmt: skip
    """A word of a command, or all that follow: how usage and help call it, what completes it."""
    return option(text, metavar, complete=complete, default=default, is_word=True, **facts)


def complete_names(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Completes a word to one of some names.

    >>> complete_names(["none", "add", "max"])("a")
    ['add']
    """
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def make_list_completer(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Completes the last of several names with commas between them; each is named once.

    >>> make_list_completer(["onnx", "numpy", "torch"])("numpy,")
    ['numpy,onnx', 'numpy,torch']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        rest = [name for name in names if name not in before.split(",")]
        return [before + comma + name for name in rest if name.startswith(last)]

    return complete


_of_result = partial(option, heading="Result")
_on_picture = partial(option, heading="Picture")
_on_drawing = partial(
    _on_picture, excludes=("plain",), unless=("svg", "html"), why="--plain draws no picture for {}"
)
_on_screen = partial(option, heading="Screen", has_variable=True)


def complete_declaration(name: str, annotation: Any, declared: Any) -> Any:
    """A declaration with the name, kind, default and choices of what it is the default of."""
    kinds = (annotation, *get_args(annotation))
    plain = next((kind for kind in (bool, int, float) if kind in kinds), str)
    kind = plain if declared.kind is str else declared.kind
    default = False if kind is bool and declared.default is None else declared.default
    choices = get_args(annotation) if get_origin(annotation) is Literal else declared.choices
    many = get_origin(annotation) is Sequence
    return declared._replace(name=name, kind=kind, default=default, choices=choices, is_many=many)


class Settings(Record):
    """The shared options of one run, parsed; the default of each field declares its option."""

    output: str | None = _of_result(
        "write the result to FILE[::NAME] in place of a picture; - is stdout", "FILE", "-o",
        endings=(),
    )  # fmt: skip
    format: str | None = _of_result("format of the result", "NAME", "-f", FORMATS)
    json: str | None = _of_result(
        "print one JSON document, errors too; --json=output only the result",
        choices=("document", "output"), alone="document",
    )  # fmt: skip
    strict: bool = _of_result("refuse what is only warned about: open duplicates, widened indices")
    expect: str | None = _of_result(
        "hold the result against FILE, and say what would give it; exit 1 if not", "FILE"
    )
    rtol: float | None = _of_result(
        "with --expect: difference allowed per expected value", "NUMBER", maximum=MAX_FLOAT,
        needs="expect", why="--rtol goes with --expect",
    )  # fmt: skip
    atol: float | None = _of_result(
        "with --expect: difference allowed to all", "NUMBER", maximum=MAX_FLOAT,
        needs="expect", why="--atol goes with --expect",
    )  # fmt: skip
    in_place: str | None = _of_result(
        "scatters: the result replaces data's .npy file; --in-place=direct writes into it",
        choices=("whole", "direct"), alone="whole",
        excludes=("output", "format", "svg", "html", "step", "expect"),
        why="--in-place changes the file of data and has no other result",
    )  # fmt: skip
    engine: str | None = _of_result(
        "run on Dask: dask, or dask=ADDRESS of a scheduler; .zarr to .zarr", "NAME",
        kind=parse_engine,
    )  # fmt: skip
    message: str | None = _of_result(
        "with --in-place on an Icechunk store: what its commit says", "TEXT", "-m",
        needs="in_place", why="--message is what a commit of --in-place says",
    )  # fmt: skip
    dtype: str | None = _of_result(
        "element type of data and updates, converted without loss", "NAME",
        complete=complete_names(ALL_DTYPES),
    )  # fmt: skip
    max_bytes: int | None = _of_result(
        "limit for inputs built in memory (default 1G) and for the result", "SIZE",
        has_variable=True, kind=parse_byte_limit,
    )  # fmt: skip
    show: str | None = _on_drawing(
        "tensors to draw: data,indices,updates,output", "LIST",
        complete=make_list_completer(("data", "indices", "updates", "output")),
    )  # fmt: skip
    full: bool = _on_drawing("draw every cell, of up to 1,000,000")
    rows: int | None = _on_drawing("rows to draw of a large tensor", "N")
    edge: int | None = _on_drawing("rows and columns to draw at the edges", "N")
    slice: str | None = _on_drawing("draw a part only, e.g. 0,:,::2", "TEXT")
    precision: int | None = _on_picture("digits after the point", "N")
    limit: int | None = _on_picture("entries or cells to list", "N")
    step: str | None = _on_picture(
        "one entry at a time, --svg a.svg into a-0.svg, a-1.svg, …; N shows only that step",
        "[N]", alone="all",
    )  # fmt: skip
    svg: str | None = _on_picture("also save the picture as SVG", "FILE", endings=(".svg",))
    theme: Literal["light", "dark"] = _on_picture(
        "ground that the SVG will stand on", "NAME", default="light",
        needs="svg", why="--theme is the ground of an SVG",
    )  # fmt: skip
    html: str | None = _on_picture("also save an interactive page", "FILE", endings=PAGE_ENDINGS)
    quiz: bool = _on_picture(
        "the page hides the output and asks for it",
        needs="html", why="--quiz is a question on a page",
    )  # fmt: skip
    plain: bool = _on_screen(
        "plain sentences in place of a picture",
        excludes=("json", "format"), why="--plain is in place of a picture",
    )  # fmt: skip
    quiet: bool = _on_screen("print no picture", short="-q")
    verbose: bool = _on_screen("also shapes, dtypes and time on stderr", short="-v")
    color: ColorChoice = _on_screen("colour in the picture", "WHEN", default="auto")
    palette: Literal["okabe", "mono", "16"] = _on_screen(
        "colours of the entries", "NAME", default="okabe"
    )
    width: int | None = _on_screen("columns to draw in", "N", minimum=40)
    debug: bool = _on_screen("show the traceback of a bug")

    @property
    def is_result_saved(self) -> bool:
        """The result itself is written, to a file or as data to stdout."""
        return self.output is not None or self.format is not None

    @property
    def is_screen_used(self) -> bool:
        """Pictures and words may go to stdout: no result goes there, and nobody asked for silence.

        >>> (
        ...     Settings().is_screen_used,
        ...     Settings(html="-").is_screen_used,
        ...     Settings(html="page.html").is_screen_used,
        ... )
        (True, False, True)
        """
        elsewhere = self.json is not None or "-" in (self.output, self.svg, self.html)
        return not (self.quiet or self.in_place or elsewhere)

    @property
    def is_verdict_alone(self) -> bool:
        """In quiet, the sentences of an expectation still go to stdout, where nothing else does.

        >>> Settings(quiet=True).is_verdict_alone, Settings(quiet=True, json="x").is_verdict_alone
        (True, False)
        """
        return self.quiet and self._replace(quiet=False).is_screen_used

    def list_flags(self, *names: str) -> list[str]:
        """Those of some options that were given, as they are written.

        >>> Settings(full=True, rows=3, html="a").list_flags(*PICTURE_OPTIONS)
        ['--full', '--rows']
        """
        present = (name for name in names if is_set(getattr(self, name)))
        return [SHARED_OPTIONS[name].flags[-1] for name in present]

    @property
    def is_picture_drawn(self) -> bool:
        """A picture goes to stdout: nothing else does, and `-o` is quiet unless one is asked for.

        >>> (
        ...     Settings().is_picture_drawn,
        ...     Settings(output="a.npy").is_picture_drawn,
        ...     Settings(output="a", full=True).is_picture_drawn,
        ... )
        (True, False, True)
        """
        is_detailed = bool(self.list_flags(*PICTURE_OPTIONS))
        is_apart = not self.is_result_saved or (is_detailed and self.output is not None)
        return self.is_screen_used and is_apart

    @property
    def is_streamable(self) -> bool:
        """Nothing is wanted but a file that can be written while the result is made.

        >>> Settings(output="a.npy").is_streamable, Settings(output="a.zarr").is_streamable
        (True, True)
        """
        target = (self.output or "").lower()
        plain = target.endswith((".npy", ".zarr")) and "::" not in target
        return plain and self.format in (None, "npy") and not self.in_place

    @property
    def is_save_only(self) -> bool:
        """The file is all that is wanted: nothing is drawn, told or compared of its values."""
        views = (self.json, self.svg, self.html, self.expect, self.step)
        return self.is_streamable and not self.is_picture_drawn and not any(views)

    @property
    def reading(self) -> dict[str, Any]:
        """How files are read, as `gscli.files.load` takes it."""
        return {"dtype": self.dtype, "empty_dtype": "int64", "max_bytes": self.max_bytes}

    def check_result_size(self, size: int, where: str) -> None:
        """LimitRefused for more than `--max-bytes`, where it is named: mapped files have none."""
        if self.max_bytes is not None:
            from gscli.files.content import check_limit

            check_limit(size, self.max_bytes, where, "the result", hint=f"--max-bytes {size}")

    def to_environment(self) -> dict[str, str]:
        """Variables that give another gscli these options of the screen.

        >>> Settings(width=60, plain=True).to_environment()
        {'GSCLI_PLAIN': 'True', 'GSCLI_WIDTH': '60'}
        """
        return {
            shared.environment: str(getattr(self, name))
            for name, shared in SHARED_OPTIONS.items()
            if shared.heading == "Screen" and getattr(self, name) != shared.default
        }


# Every shared option by name, in the order of help.
SHARED_OPTIONS: dict[str, CommandOption] = {
    name: complete_declaration(name, Settings.__annotations__[name], declared)
    for name, declared in Settings._field_defaults.items()
    if isinstance(declared, CommandOption)
}

set_defaults(Settings, {name: shared.default for name, shared in SHARED_OPTIONS.items()})

SHOW_COMPLETION = CommandOption(
    "Print the completion script of a shell, the current one unless it is named.", "[SHELL]",
    choices=("current", "bash", "zsh", "fish", "powershell", "pwsh"), name="show_completion",
    alone="current",
)  # fmt: skip

# `--json` of commands that have no single result to print alone.
JSON_OPTION = SHARED_OPTIONS["json"]._replace(
    help="print one JSON document, errors too", choices=("document",)
)


def check_places(settings: Settings, places: Mapping[str, str | None]) -> None:
    """UsageError where two results, one of which may be the document of --json, go to one place,
    but to nothing.
    """
    named = (*places.items(), ("--json", "-" * (settings.json is not None)))
    for place, names in group_pairs((place, name) for name, place in named).items():
        if place not in (None, "", os.devnull) and len(names) > 1:
            problem = f"{'stdout' if place == '-' else place} takes one result"
            hint = "name another file for one of them"
            raise UsageError(problem, where=" and ".join(names), hint=hint)


def refuse_flags(flags: Collection[str], problem: str, otherwise: str = "") -> None:
    """UsageError for options that have no use beside others, where there are any.

    `otherwise`: what else to do than to leave them out.
    """
    hint = f"{otherwise}leave out {' and '.join(flags)}"
    check_rule(not flags, problem, " ".join(flags), kind=UsageError, hint=hint)


def is_set(value: object) -> bool:
    """Whether an option was given: 0 is a value, a switch that is off is none."""
    return value is not None and value is not False


def check_combinations(options: Collection[CommandOption], values: Arguments) -> None:
    """UsageError where an option stands with one that it excludes, or without what it needs."""
    known = {**SHARED_OPTIONS, **{option.name: option for option in options}}
    present = {
        name for name, value in values.items() if is_set(value) and value != known[name].default
    }
    for option in (option for option in options if option.name in present):
        excludes = option.excludes if present.isdisjoint(option.unless) else ()
        excluded = [known[name] for name in excludes if name in present]
        flags = [other.flags[-1] if other.flags else str(values[other.name]) for other in excluded]
        refuse_flags(flags, option.why.format(*option.flags[-1:]))
        needed = known.get(option.needs)
        if needed and needed.name in {*values} - present:  # diff has tolerances, and no --expect
            word = " ".join((*needed.flags[-1:], needed.metavar.strip("[]"))).rstrip()
            barred = {name for other in present for name in known[other].excludes}
            # What it needs may need another in turn, which may be barred.
            conflicts = barred & {needed.name, needed.needs} or present & {*needed.excludes}
            hint = f"add {word}, or " * (not conflicts) + f"leave out {option.flags[-1]}"
            raise UsageError(option.why, hint=hint)


END_OF_OPTIONS = "--"


def split_at_end(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Words among which options may stand, and what `--` begins.

    >>> split_at_end(["a", "--", "b"])
    (['a'], ['--', 'b'])
    """
    end = words.index(END_OF_OPTIONS) if END_OF_OPTIONS in words else len(words)
    return words[:end], words[end:]


PIPE_WIDTH = 120
NARROWEST = 20

# Digits of a width.
LONGEST_WIDTH = 6


class Screen(Record):
    """One output stream as the pictures see it. `depth`: how many colours it can show.

    `mono`: a terminal without colours by wish (NO_COLOR); bold, dim and reverse stay.
    """

    color: bool
    width: int
    height: int | None
    utf8: bool
    is_terminal: bool
    depth: Literal["truecolor", "256", "16"] = "truecolor"
    mono: bool = False


def detect_screen(stream: IO[str], color: ColorChoice = "auto", width: int | None = None) -> Screen:
    """Judge a stream: `--color` wins, then NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM, isatty."""
    is_terminal, height = False, None
    with suppress(ValueError):  # of a stream that is closed
        is_terminal = stream.isatty()
    if is_terminal:
        columns, height = shutil.get_terminal_size((80, 24))
    else:
        columns = parse_width(os.environ.get("COLUMNS", "")) or PIPE_WIDTH
    encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "")
    return Screen(
        _wants_color(color, is_terminal), max(columns if width is None else width, NARROWEST),
        height, encoding.startswith("utf"), is_terminal, _detect_color_depth(),
        mono=color == "auto" and bool(os.environ.get("NO_COLOR")) and _shows_styles(is_terminal),
    )  # fmt: skip


def parse_width(text: str) -> int | None:
    """A width as somebody wrote it; None for what is none. Python refuses very long numbers."""
    return int(text) if text.isdecimal() and len(text) <= LONGEST_WIDTH else None


def print_stderr(text: str) -> None:
    """Write to stderr, in a log of both behind what stands on stdout; where nobody can hear it,
    nothing is lost and nothing fails.
    """
    with suppress(OSError):  # a reader of stdout who went away is told of by its last flush
        sys.stdout.flush()
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def print_json(document: object, *, flush: bool = False) -> None:
    """One JSON document, on one line of stdout; `flush` where somebody waits for it."""
    import json

    sys.stdout.write(json.dumps(document) + "\n")
    if flush:
        sys.stdout.flush()


def print_report(
    settings: Settings, make_document: Callable[[], object], make_text: Callable[[], str],
    *, is_aside: bool = False,
) -> None:  # fmt: skip
    """The document of `--json`, or the text, unless nobody wants to read it; what is not printed is
    not made. `is_aside`: stdout has another result, and the text goes to stderr.
    """
    if settings.json is not None:
        print_json(make_document())
    elif not settings.quiet:
        (print_stderr if is_aside else sys.stdout.write)(make_text())


def _wants_color(choice: ColorChoice, is_terminal: bool) -> bool:
    environment = os.environ
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR") or environment.get("CLICOLOR_FORCE", "0") != "0":
        return True
    return _shows_styles(is_terminal)


def _shows_styles(is_terminal: bool) -> bool:
    return is_terminal and os.environ.get("TERM") not in ("dumb", "unknown")


def _detect_color_depth() -> Literal["truecolor", "256", "16"]:
    if os.environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "truecolor"
    term = os.environ.get("TERM", "")
    if "256" in term:
        return "256"
    return "16" if term and not os.environ.get("FORCE_COLOR") else "truecolor"


def make_view_options(settings: Settings, *, is_for_file: bool = False) -> "ViewOptions":
    """How to draw, from the options and what stdout can take; `is_for_file` for files, in full."""
    from gscli.views.look import ViewOptions

    target = detect_screen(sys.stdout, settings.color, settings.width)
    depth = target.depth if target.color or target.mono else "none"
    palette = "mono" if target.mono else settings.palette
    if is_for_file:  # which no terminal's own colours reach
        depth, palette = "truecolor", "mono" if settings.palette == "mono" else "okabe"
    return ViewOptions(
        width=target.width, height=target.height, color=depth, palette=palette,
        utf8=is_for_file or (target.utf8 and not settings.plain),
        full=settings.full, rows=settings.rows, slice=settings.slice, limit=settings.limit,
        precision=settings.precision, edge=1 if settings.edge is None else settings.edge,
        show=tuple(settings.show.split(",")) if settings.show else None, hints=not is_for_file,
    )  # fmt: skip
