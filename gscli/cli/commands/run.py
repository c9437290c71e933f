"""`gscli run FOLDER…` and `gscli run MODEL.onnx …`.

Run official ONNX node tests, or a node of a model.

A folder holds model.onnx with one node and test_data_set_*/input_*.pb, output_*.pb; a folder of
such folders stands for all of them, test_data_set_0 for itself. A line per failure, then N
passed, M failed. A node that is no gather or scatter is skipped, with the reason. Exit status 1
when any fails, 65 when all are skipped.

Of a model with more nodes the gathers and scatters are listed, with shapes. --node runs one:
its constants come from the model, other inputs from INPUT files in their order, as NAME=FILE,
by the names of tensors from one .npz, .safetensors or folder, or from test_data_set_0 beside
the model. The result is drawn and, with --expect or a recorded output, held against it.

\b
Examples:
  gscli run node/test_scatternd_add
  gscli run node --only scatter --json
  gscli run model.onnx
  gscli run model.onnx --node Scatter_7 data=x.npy updates=u.npy --expect answer.npy
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gscli.base import InputRefused, UsageError, check_rule
from gscli.base.words import format_count
from gscli.cli.building import complete_file, tool
from gscli.cli.options import (
    JSON_OPTION,
    PICTURE_OPTIONS,
    Settings,
    argument,
    option,
    print_report,
    refuse_flags,
)

if TYPE_CHECKING:
    from gscli.cli.call.nodes import ModelReference
    from gscli.lab.node_tests import NodeTestResult

# Skipped folders that are listed, unless -v asks for all.
LISTED = 10


# Options that ask for one node to be run.
SINGLE_NODE_OPTIONS = (
    "output", "format", "strict", "expect", "rtol", "atol", "dtype", *PICTURE_OPTIONS, "svg", "html"
)  # fmt: skip

SHARED_OPTIONS = (
    *SINGLE_NODE_OPTIONS, JSON_OPTION, "max_bytes", "theme", "plain", "color", "palette", "width",
    "debug",
)  # fmt: skip


@tool("run", *SHARED_OPTIONS)
def run(
    folders: Sequence[str] = argument(
        "FOLDER... | MODEL.onnx[::NODE] [INPUT...]",
        "node tests, folders of them, or a model and inputs of a node",
        complete_file,
    ),
    only: str = option("only folders whose name contains TEXT", "TEXT", default=""),
    node: str | None = option("run this node: its name, an output's, or Gather#0", "NAME"),
    quiet: bool = option("only the summary", short="-q"),
    verbose: bool = option("also what passed", short="-v"),
    *,
    settings: Settings,
) -> int:
    from gscli.cli.call.nodes import list_nodes, parse_model_reference, run_node
    from gscli.lab.node_tests import is_node_test

    first, *inputs = folders
    place = parse_model_reference(first)
    fits, hint = place is not None or node is None, f"gscli run MODEL.onnx --node {node}"[:200]
    check_rule(fits, "--node needs a model", first, kind=UsageError, hint=hint)
    settings = settings._replace(quiet=quiet, verbose=verbose)
    is_single = node is not None or (place is not None and _is_single(place, folders, settings))
    if place is None or (not is_single and (inputs or is_node_test(place.path))):
        return _run_tests(folders, settings, only)
    refuse_flags(["--only"] * bool(only), "--only chooses among node tests")
    return run_node(place, node, inputs, settings) if is_single else list_nodes(place, settings)


def _is_single(place: ModelReference, folders: Sequence[str], settings: Settings) -> bool:
    """Whether a node is named, inputs stand behind the model, or an option asks for one node's
    picture or result.
    """
    from gscli.cli.call.nodes import parse_model_reference

    inputs = any(parse_model_reference(word) is None for word in folders[1:])
    beside = inputs and folders[0].partition("::")[0].lower().endswith(".onnx")
    return place.node is not None or beside or bool(settings.list_flags(*SINGLE_NODE_OPTIONS))


def _run_tests(folders: Sequence[str], settings: Settings, only: str) -> int:
    from gscli.lab.node_tests import find_test_folders, run_folder
    from gscli.views.progress_bar import ProgressBar

    flags = settings.list_flags(*SINGLE_NODE_OPTIONS)
    refuse_flags(flags, "node tests are counted and nothing else", "name one of them, or ")
    chosen = [folder for folder in find_test_folders(list(folders)) if only in folder.name]
    refuse_flags(["--only"] * (not chosen), f"no node test's name contains {only!r}"[:200])
    outcomes: list[NodeTestResult] = []
    with ProgressBar("node tests", len(chosen), quiet=settings.quiet) as progress:
        for folder in chosen:
            outcomes += run_folder(folder)
            progress.advance()
    counts = Counter[str](passed=0, failed=0, skipped=0)
    counts.update(outcome.status for outcome in outcomes)
    if counts["skipped"] == len(outcomes):
        raise _nothing_to_run_error(outcomes)
    listed = () if settings.quiet else _format_results(outcomes, verbose=settings.verbose)
    shown = [f"{n} {status}" for status, n in counts.items() if n or status != "skipped"]
    print_report(
        settings._replace(quiet=False),
        lambda: {**counts, "tests": [outcome.to_dict() for outcome in outcomes]},
        lambda: "".join([*listed, ", ".join(shown), "\n"]),
    )
    return int(counts["failed"] > 0)


def _nothing_to_run_error(outcomes: Sequence[NodeTestResult]) -> InputRefused:
    reasons = list(dict.fromkeys(outcome.skipped for outcome in outcomes))
    rest = len(reasons) - LISTED
    more = (f"… and {format_count(rest, 'more reason')}",) if rest > 0 else ()
    where = outcomes[0].folder if len(outcomes) == 1 else format_count(len(outcomes), "folder")
    hint, details = "name folders of gather or scatter node tests", (*reasons[:LISTED], *more)
    return InputRefused("nothing to run here", where=where, details=details, hint=hint)


def _format_results(outcomes: Sequence[NodeTestResult], *, verbose: bool) -> Iterator[str]:
    """Failures and the first skipped folders, or everything."""
    skipped = 0
    for outcome in outcomes:
        skipped += outcome.status == "skipped"
        hidden = outcome.status == "passed" or (outcome.status == "skipped" and skipped > LISTED)
        if verbose or not hidden:
            place = f"{outcome.folder}/{outcome.data_set}".rstrip("/")
            word = "FAILED" if outcome.status == "failed" else outcome.status
            reason = outcome.problem or outcome.skipped
            yield f"{word} {place}" + (f": {reason}" if reason else "") + "\n"
    if skipped > LISTED and not verbose:
        yield f"and {skipped - LISTED} more skipped: -v\n"
