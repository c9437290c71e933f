"""The topics of `gscli help`, texts and the lists made from declarations. Light."""

from __future__ import annotations

from collections.abc import Callable

from gscli.base.errors import ExitCode
from gscli.cli.building import shared_help
from gscli.cli.code_topic import code
from gscli.cli.findings import findings
from gscli.cli.options import SHARED
from gscli.cli.runtime_topics import RUNTIMES
from gscli.cli.scale_topic import ZARR
from gscli.frameworks import ALIASES, NAMES, framework

EXIT_CODES: dict[ExitCode, str] = {
    ExitCode.DONE: "done, warnings allowed",
    ExitCode.NO: "the answer is no: compare differs, verify or run fails, check or --strict finds",
    ExitCode.USAGE: "the command itself is wrong",
    ExitCode.REFUSED: "the operator refuses the inputs: index, shape, element type, content",
    ExitCode.UNREADABLE: "an input cannot be read",
    ExitCode.BUG: "a bug in gscli",
    ExitCode.UNWRITABLE: "the output cannot be written; the old one is unharmed",
    ExitCode.INTERRUPTED: "interrupted by Ctrl-C",
    ExitCode.CLOSED: "the reader of a pipe went away",
}

SIGNS = """\
Every entry of the indices has a letter, and a colour where the terminal has colours: a to z, A to
Z, then aa, ab, … The same letter stands at the entry, at the cells that it reads or writes, and at
the heads of their row and column: a cell lies where its letters cross.

  a:41        the cell that entry a reads or writes
  ac:41       entries a and c meet in this cell (a,ac: beyond 52 entries)
  a+4:41      entry a and four more
  1→41        the cell held 1 and holds 41 now
  +10  ×10    what the update does to the cell; no sign: it replaces the value
  -1↺         the number counts from the end, or wraps around (-1~ without UTF-8)
  9⊣          the number is clipped to the nearest end (9])
  5✗          out of range: the entry is dropped, or its cells are filled (5!)
  ⋯  ⋮        columns or rows are left out here (.. and :)
  ·           a later step fills this cell (.); on a map, an entry beyond the 26 with letters
  ≠           in comparisons: another value than the first rule set's (!=)
  dim         a cell that no entry touches

A bar of one colour is a slice: cells that one entry moves together, called a line, a sheet or a
cuboid. White letters on dark red: skipped. A large tensor has a map, on which letters tell where
it is touched, and a small table for each neighbourhood. --show data,indices,updates,output draws
every tensor with its letters and a line per entry; gscli explain tells the same in words.
"""

INPUTS = """\
An input is one of

  data.npy              a file: .npy .npz .json .csv .tsv .pb .onnx .safetensors .h5 .zarr
  weights.npz::name     one tensor of a file that holds several
  -                     standard input: .npy, .npz or JSON, told by its first bytes
  '[[0,1],[2,-1]]'      JSON, nested or {"dtype": …, "shape": …, "data": …}
  arange:3x4            also zeros:4x3:float32, ones:, full:3x4:7, rand:3x4:seed=1

Inputs come in the framework's order, or by name: --indices idx.npy. One .npz, .safetensors or
folder may stand for all of them, matched by argument name. A word that begins with - needs --
before it: gscli gather data.npy -- -1.

JSON and CSV carry no element types: whole numbers are int64, others float64, [] is int64, and
updates take the type of data. --dtype converts data and updates without loss; indices stay
integers. It also names the type of opaque elements, as in .npy files of bfloat16.

Documents that --json prints are inputs again.
"""

COLORS = """\
A picture has colours on a terminal and none in a pipe; nothing else differs. Every mark is also a
letter or a sign, so that nothing is lost without colour. What decides, the first that is there:

  --color always|never  or GSCLI_COLOR
  NO_COLOR              not empty: no colours
  FORCE_COLOR, CLICOLOR_FORCE   colours also in a pipe
  TERM=dumb             no colours
  a terminal            colours

--palette okabe (safe for colour-blind eyes, the default), mono (bold and reverse), 16 (the colours
of the terminal's own theme). --plain, or GSCLI_PLAIN=1, prints sentences for screen readers. The
width is --width, GSCLI_WIDTH, the terminal's own, COLUMNS, or 120.
"""

JSON = """\
--json prints one document, --json=output only its output. What it prints can be read again: by any
operator as an input, and by gscli page as a run.

  schema                  gscli/1
  framework, op, opset    which operator; opset where it has versions
  attrs                   attributes in force
  inputs                  name -> {"dtype", "shape", "data"}
  output                  {"dtype", "shape", "data"}, the cells flat in row-major order
  entry_count             how many entries there were
  entries                 what each did, as below; above 10,000 only with --limit N
  warnings                what is said on stderr too: problem, where, details, hint

An entry has

  id          its letter in the pictures
  at          its place in indices
  index       its numbers as written
  cell        the cell or slice of data (gather) or output (scatter) it addressed; null: none
  status      ok, wrap, clip or skip
  update      its place in updates; a gather has result instead, its place in output
  old, new    the cell before and after (single cells of a scatter)
  dropped     how many updates fell outside, where a window lies partly outside

With --expect there is expectation: equal, dtype and shape (of the output and of the expectation),
cells, different, first (at, is, expected), largest (difference, at), entries, slices, and causes:
cause, exact, cells, entries. gscli diff prints the same, by name under members for containers.

nan and infinities are strings, complex numbers pairs, integers beyond 2^53 decimal strings.

check, compare, convert, diff, rules, run, samples, show and verify have --json too. The rows of
compare and the lines of gscli batch have warnings where there are any.

With --json an error is {"error": {"code", "kind", "problem", "where", "details", "valid", "hint"}}
on standard error. In gscli batch it takes the place of the result.
"""

DIFFERENCES = """\
gscli rules tells what one operator does, gscli compare what all do with the same inputs. gscli
rules --table 1 and --table 2 print the two tables of the article that started this project, every
word of them computed by running the operators. What surprises who comes from another framework:

Negative indices. ONNX and NumPy count from the end, and PyTorch's index_put does. TensorFlow on the
CPU and PyTorch's gather refuse. A gather on TensorFlow's GPU reads 0, StableHLO's clamps to the
first cell.

Out of range. An error, a zero, the last cell (clipped), another cell (wrapped) or a fill value:
MXNet's take clips unless it is told otherwise, JAX's take fills, its x[i] clips.

Vectors. MXNet's gather_nd and scatter_nd read them down the first axis of indices, everybody else
along the last.

Duplicates. TensorFlow's scatter_nd sums them. ONNX leaves the result open without a reduction;
gscli keeps the last one and warns, onnxruntime's threads race.

No axis given. NumPy's take flattens, the others take axis 0.

64 bits. gscli keeps JAX's 64-bit types. JAX itself turns int64 into int32 and float64 into float32
unless jax_enable_x64 is set: --dtype int32 or --dtype float32 gives the answers of its default.

Where the article says otherwise. ONNX does not detect duplicates, it calls the result open. MXNet
1.6 checked the indices of take with mode=raise only; its scatter_nd checks none to this day.
TensorFlow's scatter_nd raised on the CPU then as now. Caffe2's Gather takes any axis, and counts
from the end where axis is 0. raise refuses -1 in MXNet and accepts it in NumPy.
"""

COMPLETION = """\
For the shell you are in:

  gscli --install-completion

Or put the script where your shell looks for it:

  _GSCLI_COMPLETE=source_bash gscli \\
      > ~/.local/share/bash-completion/completions/gscli
  _GSCLI_COMPLETE=source_zsh gscli > "${fpath[1]}/_gscli"
  _GSCLI_COMPLETE=source_fish gscli > ~/.config/fish/completions/gscli.fish

It knows commands, operators, options and their choices, element types, lessons, and files of the
suffixes gscli reads.
"""


PORTING = """\
My converter's answer is wrong. Save both answers as .npy files; where do they differ?

  gscli diff converted.npy original.npy

Save what goes in too, and hold the rules against the converter's answer: whose rule gives it?

  gscli scatter-nd data.npy idx.npy upd.npy --reduction add --expect converted.npy

The exit status is 1 when they differ. Told are the type and shape first; then the picture marks the
cells that differ with both values, is ≠ expected; then which entries reach them, and what would
give exactly the expected answer: the rules of another framework, or a common mistake such as
negative indices read as 0, a reduction that is missing, axes or vectors in another order. --rtol
and --atol say how far numbers may be apart; the usual is the last bits of the type, and nothing for
integers. Of answers with more than 4,194,304 cells causes are tried on some; it says on how many.
Jobs of gscli batch have "expect", "rtol" and "atol" for the same.

  gscli compare scatter-nd data.npy idx.npy upd.npy    what each framework answers
  gscli compare … --opset 11,13,18                     what versions of ONNX answer
  gscli explain scatter-nd … --code torch,jax          what to write there
  gscli check scatter-nd data.npy idx.npy upd.npy      every index that is not read as written

A node of an ONNX model, with tensors that were saved before it and the model's own constants:

  gscli run model.onnx                                 its gathers and scatters, with shapes
  gscli run model.onnx --node NAME data=x.npy --expect answer.npy

A CUDA kernel stops with "device-side assert triggered" and does not say which index. Save the
tensors on the CPU before the call, numpy.save("idx.npy", index.cpu().numpy()), and ask

  gscli check torch gather data.npy idx.npy --dim 1    names every index that is out of range
"""


def texts() -> dict[str, tuple[str, Callable[[], str]]]:
    """Topic -> its one-line summary and its text; the manual page is made of them."""
    return {
        "exit-codes": ("what the exit status means", exit_codes),
        "inputs": ("files, pipes, inline arrays, generators", lambda: INPUTS),
        "zarr": ("stores of chunks, Dask, Icechunk", lambda: ZARR),
        "signs": ("letters, signs and colours of the pictures", lambda: SIGNS),
        "colors": ("colour, palettes, width, plain text", lambda: COLORS),
        "frameworks": ("whose operators there are, and under which names", frameworks),
        "json": ("documents in and out, errors as data", lambda: JSON),
        "porting": ("a wrong answer: where, and whose rule would give it", lambda: PORTING),
        "code": ("the same call in other frameworks, exact or not", code),
        "differences": ("what surprises who comes from another framework", lambda: DIFFERENCES),
        "runtimes": ("asking installed runtimes, and how to write an adapter", lambda: RUNTIMES),
        "findings": ("what released runtimes answered, and how to see it", findings),
        "environment": ("variables that set defaults", environment),
        "completion": ("words and files completed by the shell", lambda: COMPLETION),
    }


def exit_codes() -> str:
    """The exit codes, a line each.

    >>> exit_codes().splitlines()[0]
    '  0  done, warnings allowed'
    """
    return "".join(f"{code:3d}  {text}\n" for code, text in EXIT_CODES.items())


def environment() -> str:
    """The variables that gscli reads."""
    rows = [(shared.environment, shared) for shared in SHARED.values() if shared.variable]
    lines = [f"{name:<18}{shared.flags[-1]}: {shared_help(shared)}\n" for name, shared in rows]
    return "".join(lines) + "\nAlso NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM and COLUMNS.\n"


def frameworks() -> str:
    """Each framework and its commands."""
    aliases = {name: alias for alias, name in ALIASES.items()}
    lines = []
    for name in NAMES:
        commands = [operator.command for operator in framework(name).operators.values()]
        alias = f" (or {aliases[name]})" if name in aliases else ""
        lines.append(f"{name}{alias}: {' '.join(commands)}\n")
    return "\n".join(lines)
