"""`gscli explain OPERATOR …`."""

from __future__ import annotations

from typing import Any

from gscli.cli.building import option
from gscli.cli.completion import list_of
from gscli.cli.options import Settings
from gscli.cli.tree import tree
from gscli.frameworks.operator import Operator

TARGETS = ("all", "numpy", "torch", "jax", "tensorflow", "onnx", "openvino", "stablehlo", "mxnet")
"""What `--code` takes, without importing what writes it."""


def explain() -> Any:
    """Every operator under explain."""
    return tree(
        _Explain(), "explain", "The operator's formula with real numbers, then its entries."
    )


class _Explain:
    """The formula and the entries, or with `--code` the lines of other frameworks."""

    parameters = (
        option(
            "code", "--code", metavar="LIST", complete=list_of(TARGETS),
            help=f"the same call in other frameworks: a list of {' '.join(TARGETS)}",
        ),
        option(
            "check", "--check", kind=bool, default=False,
            help="with --code: run the lines where they can be run",
        ),
        option(
            "python", "--python", metavar="PATH",
            help="with --check: interpreter that has them",
        ),
    )  # fmt: skip

    def __call__(
        self,
        operator: Operator,
        words: list[str],
        texts: dict[str, str],
        settings: Settings,
        **own: Any,
    ) -> int:
        from gscli.cli.work.code import CodeWish, tell_code
        from gscli.cli.work.explain import explain_operator

        wish = CodeWish(**own)
        wish.judge()
        if wish.code is not None:
            return tell_code(operator, words, texts, settings, wish)
        return explain_operator(operator, words, texts, settings)
