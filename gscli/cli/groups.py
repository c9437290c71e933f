"""Groups of commands that know names and summaries, and build a command when it is named."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from gscli.base.errors import UsageError
from gscli.cli.building import application, close_names
from gscli.cli.operators import Action, operator_command
from gscli.frameworks import ALIASES, NAMES, bare_operators, framework
from gscli.frameworks.operator import Operator


class LazyGroup(TyperGroup):
    """A group whose commands are imported when they are needed."""

    def summaries(self) -> dict[str, str]:
        """Command name -> one-line help."""
        return {}

    def build(self, name: str) -> Any:
        """The command called `name`, None where there is none. Nothing else is looked at."""
        raise NotImplementedError

    def sections(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Titles and rows of the command list in help."""
        yield "Commands", list(self.summaries().items())

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(self.summaries())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = self.build(ALIASES.get(cmd_name, cmd_name))
        if command is not None or ctx.resilient_parsing:
            return command
        names, meant = self.summaries(), dashed(cmd_name)
        known = [*names, *self._aliases(names)]
        near = meant if meant in known else " or ".join(close_names(meant, known))
        raise UsageError(
            f"no such command {cmd_name!r}"[:200],
            hint=f"did you mean {near}?" if near else f"{ctx.command_path} --help",
        )

    @staticmethod
    def _aliases(names: dict[str, str]) -> list[str]:
        return [alias for alias, name in ALIASES.items() if name in names]

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        for title, rows in self.sections():
            with formatter.section(title):
                formatter.write_dl(rows)


def dashed(name: str) -> str:
    """A name as the command line writes it, however documents and code do.

    >>> dashed("ScatterND"), dashed("GatherElements"), dashed("index_add_"), dashed("add.at")
    ('scatter-nd', 'gather-elements', 'index-add', 'add-at')
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    return re.sub(r"[_.\s-]+", "-", parted).strip("-").lower()


class FrameworkGroup(LazyGroup):
    """The operators of one framework under one action."""

    framework_name = "onnx"
    path = ""
    action: Action

    def summaries(self) -> dict[str, str]:
        return {name: operator.summary for name, operator in self._operators().items()}

    def build(self, name: str) -> Any:
        operator = self._operators().get(name)
        return operator and operator_command(operator, type(self).action, self.path)

    def _operators(self) -> dict[str, Operator]:
        found = framework(self.framework_name).operators.values()
        return {operator.command: operator for operator in found}


class TreeGroup(LazyGroup):
    """Bare operators and frameworks under one action: what explain and check offer."""

    path = ""
    action: Action

    def summaries(self) -> dict[str, str]:
        return dict([*_bare_rows(), *_framework_rows()])

    def build(self, name: str) -> Any:
        if name in NAMES:
            return framework_group(name, type(self).action, self.path)
        operator = next((found for found in bare_operators() if found.command == name), None)
        return operator and operator_command(operator, type(self).action, self.path)

    def sections(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        yield "Operators (ONNX rules)", _bare_rows()
        yield "Frameworks", _framework_rows()


def _bare_rows() -> list[tuple[str, str]]:
    return [(operator.command, operator.summary) for operator in bare_operators()]


def _framework_rows() -> list[tuple[str, str]]:
    return [(name, f"{TITLES[name]} operators under their own names.") for name in NAMES]


TITLES = {
    "onnx": "ONNX", "openvino": "OpenVINO", "numpy": "NumPy", "tensorflow": "TensorFlow",
    "mxnet": "MXNet", "caffe2": "Caffe2", "torch": "PyTorch", "jax": "JAX",
    "stablehlo": "StableHLO",
}  # fmt: skip
"""`Framework.title`, without importing nine modules for a list of commands."""


def tree(action: Action, name: str, help_text: str) -> Any:
    """A group with every operator under another action (explain, check)."""
    attributes = {"action": staticmethod(action), "path": f"gscli {name}"}
    return group(type("Tree", (TreeGroup,), attributes), name, help_text)


def framework_group(name: str, action: Action, path: str) -> Any:
    """The operators of a framework as a group."""
    attributes = {"action": staticmethod(action), "framework_name": name, "path": path}
    doc = inspect.getdoc(import_module(f"gscli.frameworks.{name}")) or ""
    help_text = doc.replace("\n\n", "\n\n\b\n")
    return group(type("Operators", (FrameworkGroup,), attributes), name, help_text)


def group(kind: type[LazyGroup], name: str, help_text: str) -> Any:
    """A group of the class `kind`; named alone it prints its help and leaves with status 2."""
    app = application(cls=kind, name=name, help=help_text, no_args_is_help=True)
    app.callback()(lambda: None)
    return typer.main.get_command(app)
