"""The command line, built lazily from the declarations. Light: neither numpy nor rich nor pydantic.

`gscli OPERATOR …` and `gscli FRAMEWORK OPERATOR …` run; `gscli explain …` and `gscli check …` take
the same words. Only the command that is named is built; help lists come from the declarations.

    guard.py      every way a run can end
    building.py   typer with the project's settings; parameters and options from declarations
    operators.py  the command of one operator
    tree.py       groups of commands that are built when they are named, and gscli itself

Here are the words that the parser cannot take as they are written.
"""

from __future__ import annotations

from collections.abc import Sequence

WITHOUT_VALUE = {"--step": "all", "--json": "document", "--in-place": "whole"}
"""Options that may stand alone, and what they mean then."""

END_OF_OPTIONS = "--"


def _is_step(word: str) -> bool:
    return word.isdigit() or word == "all"


def with_values(words: Sequence[str]) -> list[str]:
    """Some options take an optional value; the parser knows only options that always do.

    >>> with_values(["--json", "x", "--step", "3", "--", "--json"])
    ['--json=document', 'x', '--step', '3', '--', '--json']
    >>> with_values(["--step"])
    ['--step=all']
    """
    end = words.index(END_OF_OPTIONS) if END_OF_OPTIONS in words else len(words)
    options, rest = words[:end], words[end:]
    found: list[str] = []
    for place, word in enumerate(options):
        following = options[place + 1] if place + 1 < end else ""
        alone = word in WITHOUT_VALUE and not (word == "--step" and _is_step(following))
        found.append(f"{word}={WITHOUT_VALUE[word]}" if alone else word)
    return [*found, *rest]


def value_of(option: str, words: Sequence[str]) -> str | None:
    """The value of an option in words that no parser has looked at; the last one counts.

    >>> value_of("--width", ["--width", "60", "--width=70"]), value_of("--color", ["--color"])
    ('70', None)
    """
    found = None
    for place, word in enumerate(words):
        if word == END_OF_OPTIONS:
            break
        if word == option and place + 1 < len(words):
            found = words[place + 1]
        elif word.startswith(option + "="):
            found = word.partition("=")[2]
    return found


def asks_for_json(words: Sequence[str]) -> bool:
    """Whether errors are wanted as JSON too.

    >>> asks_for_json(["gather", "--json=output"]), asks_for_json(["--", "--json"])
    (True, False)
    """
    end = words.index(END_OF_OPTIONS) if END_OF_OPTIONS in words else len(words)
    return any(word == "--json" or word.startswith("--json=") for word in words[:end])
