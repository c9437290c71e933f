"""`gscli watch SCRIPT [WORD…]`, `gscli watch -m MODULE [WORD…]`.

Run a PyTorch or JAX program and judge every index before its kernel runs.

The first bad index stops the program and is named: file, line, expression, your own variable, the
position, the value, what is legal. At the end stand values that others overwrote, and numbers that
silently counted from the end or were clipped. Use the Python that has torch or jax: python -m gscli
watch SCRIPT. All words behind SCRIPT are the program's own. The exit status is the program's, 65
where an index is bad, 1 with --strict for the rest. The program is run, with all that it does:
watch only what you would run yourself.

\b
Examples:
  python -m gscli watch train.py --lr 0.1
  python -m gscli watch --keep-going -m package.train
"""

from __future__ import annotations

import json as json_text
import os
import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from gscli.base import CannotRead, UsageError, check_rule
from gscli.cli.building import tool
from gscli.cli.options import Settings, argument, detect_screen, option, output_option


@tool("watch", "color", "width", "debug")
def watch(
    words: Sequence[str] = argument("SCRIPT [WORD...]", "the program and its own words", None, ()),
    module: bool = option("SCRIPT is the name of a module", short="-m"),
    keep_going: bool = option("note bad indices and go on"),
    numpy: bool = option(
        "also x[…], take, put and ufunc.at of NumPy in SCRIPT itself",
        excludes=("module",),
        why="--numpy rewrites a script, not a module",
    ),
    save: str | None = output_option(
        "write the first call of each kind to FILE.npz, FILE-lost.npz, …", "FILE"
    ),
    no_read_back: bool = option("do not look for values that others overwrote"),
    every: int = option("look at every N-th call of a line", "N", default=1, minimum=1),
    strict: bool = option("exit status 1 for whatever is found"),
    json: str | None = option(
        "findings as JSON Lines on stderr; --json=FILE writes them there", alone="document"
    ),
    *,
    settings: Settings,
) -> int:
    problem = "watch takes a script, or a module behind -m"
    check_rule(bool(words), problem, kind=UsageError, hint="gscli watch SCRIPT [WORD…]")
    check_rule(module or os.path.exists(words[0]), "no such script", words[0], kind=CannotRead)
    if save is not None and not save.endswith(".npz"):
        raise UsageError("--save writes an .npz file", where=f"--save {save}"[:200])
    screen = detect_screen(sys.stderr, settings.color, settings.width)
    options = json_text.dumps({
        "module": module, "keep_going": keep_going, "numpy": numpy, "save": save,
        "read_back": not no_read_back, "every": every, "strict": strict,
        "json": "-" if json == "document" else json,
        "screen": {"color": screen.color, "width": screen.width, "utf8": screen.utf8},
    })  # fmt: skip
    head = sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv)]  # before the words of gscli itself
    before = (re.sub("^(-[A-Za-z]*)[mc]$", r"\1", word) for word in head)  # -um leaves -u
    command = [sys.executable, *(word for word in before if word != "-"), "-m", "gscli.watch"]
    if find_spec("gscli.watch") is None or not sys.executable:
        raise UsageError("this Python cannot start itself again", where=repr(sys.executable))
    sys.stdout.flush()
    os.execv(sys.executable, [*command, options, *words])  # noqa: S606  the same Python
