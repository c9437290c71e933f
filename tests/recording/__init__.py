"""Everything that is recorded: what the project prints and draws, kept in files one can review.

    sessions.py  terminal sessions in Markdown: run them, and write down what they print
    texts.py     help of every command, wrong usage, every operator's refusal
    scenes.py    traces whose pictures are kept
    drawn.py     pictures, explanations and comparisons
    lines.py     what the lines of `--code` gave in the real frameworks
    gradients.py what the real frameworks give for gradients
    stubs.py     parameters of every operator, for type checkers
    backward.py  programs of `grad --code` that the real frameworks ran
    findings.py  the findings about released runtimes as scripts and as texts that can be filed

`python tests/record.py` writes all of it anew; tests/test_recorded.py fails where a file is not
what is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

from recording import backward, drawn, findings, gradients, lines, sessions, stubs, texts

ROOT = Path(__file__).parents[2]

# Path below the root -> content.
Made: TypeAlias = Mapping[str, bytes]


class Recording(NamedTuple):
    """Some recorded files; those below `owns` that are no longer made are removed."""

    make: Callable[[], Made]
    owns: str = ""

    def differences(self, made: Made) -> tuple[list[str], list[str]]:
        """Paths whose content is not what is made, and paths that nothing makes."""
        different = [path for path, content in made.items() if _content(path) != content]
        kept = ROOT.glob(self.owns) if self.owns else ()
        return different, [name for name in map(_below_root, kept) if name not in made]

    def write(self) -> list[str]:
        """Make everything anew; the paths that changed."""
        made = self.make()
        different, stale = self.differences(made)
        for path in different:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_bytes(made[path])
        for path in stale:
            (ROOT / path).unlink()
        return sorted([*different, *stale])


def _content(path: str) -> bytes | None:
    return (ROOT / path).read_bytes() if (ROOT / path).exists() else None


def _below_root(path: Path) -> str:
    return str(path.relative_to(ROOT))


def recordings() -> dict[str, Recording]:
    """Every recording by name, in an order that never changes."""
    lessons = sorted((ROOT / "samples").glob("*/README.md"))
    return {
        **{
            f"samples/{readme.parent.name}": Recording(partial(sessions.replay_file, readme))
            for readme in lessons
        },
        "README": Recording(partial(sessions.replay_file, ROOT / "README.md")),
        "help": Recording(texts.help_of_everything, "tests/golden/help/*.txt"),
        "calls": Recording(partial(sessions.replay_file, ROOT / "tests/golden/calls.md")),
        "usage": Recording(partial(sessions.replay_file, ROOT / "tests/golden/help/usage.md")),
        "refusals": Recording(texts.refusals),
        "tables": Recording(texts.article_tables),
        "views": Recording(drawn.views, "tests/golden/views/*"),
        "stubs": Recording(stubs.made),
        "code": Recording(lines.made),
        "gradients": Recording(gradients.made),
        "backward": Recording(backward.made),
        "findings": Recording(findings.made, f"{findings.FOLDER}/reports/*"),
        "compare": Recording(drawn.comparisons, "tests/golden/compare/*"),
    }
