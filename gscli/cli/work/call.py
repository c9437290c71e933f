"""From the words of a command to a finished call: attributes, inputs, trace; errors name files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from gscli.base import Drawn, GscliError, Notice, StrictFinding, UsageError
from gscli.base.words import counted
from gscli.cli.inputs import byte_limit, loaded_inputs, typed
from gscli.cli.options import Settings, screen, tell
from gscli.declare.attributes import Attribute
from gscli.files import mapped
from gscli.files.arrays import Array, dtype_name, is_left
from gscli.files.mapped import RegularFile, open_regular
from gscli.files.request import STORES, suffix_of
from gscli.files.system import give_back_large_blocks
from gscli.frameworks import operators
from gscli.frameworks.execute import execute, notices, settle_types
from gscli.frameworks.operator import Operator
from gscli.plan import Inputs, layout_of, plan_of, read_again
from gscli.plan.plan import JudgedPlan
from gscli.traces import Trace

_LISTED = 4
"""Operators that a hint names."""


def parsed_attributes(operator: Operator, texts: Mapping[str, str]) -> dict[str, object]:
    """Attributes as the operator declares them, from the words of the command line.

    >>> from gscli.frameworks.onnx import gather
    >>> parsed_attributes(gather, {"axis": "-1"})
    {'axis': -1}
    """
    known = {attribute.name: attribute for attribute in operator.attributes}
    try:
        return {name: known[name].parse(text) for name, text in texts.items()}
    except UsageError as error:
        error.hint = error.hint or _who_has(texts.values(), known)
        raise


def _who_has(texts: Iterable[str], known: Mapping[str, Attribute]) -> str:
    """Which operators have the choice that this one lacks, such as the reduction mean."""
    own = {choice for attribute in known.values() for choice in attribute.choices}
    having: list[str] = []
    for text in set(texts) - own - {""}:
        having = [
            operator.command_line.removeprefix("gscli ")
            for operator in operators()
            if any(text in attribute.choices for attribute in operator.attributes)
        ]
        if having:
            return f"{text} is known to: {', '.join(having[:_LISTED])}" + ", …" * (
                len(having) > _LISTED
            )
    return ""


class Call:
    """One command's operator, words and options, with its inputs read; nothing has run yet."""

    def __init__(
        self,
        operator: Operator,
        words: Sequence[str],
        texts: Mapping[str, str],
        settings: Settings,
    ) -> None:
        self.operator, self.settings = operator, settings
        parsed = parsed_attributes(operator, texts)
        self.typed = typed(operator, words, texts, settings)
        self._files = self._held_files() if settings.in_place else {}
        leave = bool(settings.only_saves or settings.in_place) and settings.dtype is None
        self.inputs: Inputs = loaded_inputs(self.typed, parsed, settings, leave=leave)
        self.attrs = self.inputs.attrs
        with self.located_errors():
            settle_types(
                operator, self.inputs, self.attrs, strict=settings.strict, dtype=settings.dtype
            )
            self.inputs.arrays.update(read_again(operator, self.inputs.arrays, self.attrs))
        self.limit = byte_limit(settings.max_bytes)

    def traced(self) -> Trace:
        """Run in memory, then warn; errors say which file they are about."""
        arrays = self.inputs.arrays
        with self.located_errors():
            done = execute(
                self.operator, arrays, self.attrs,
                max_bytes=self.limit, overlay=True, planner=plan_of,
            )  # fmt: skip
            self.check_unchanged()
        trace = self._trace(*done)
        warn(trace.warnings, self.settings)
        return trace

    def check_unchanged(self) -> None:
        """CannotRead where a mapped input was written to since it was opened."""
        mapped.check_unchanged(*self.inputs.arrays.values())

    def _trace(self, plan: JudgedPlan, output: Array) -> Trace:
        origins, notices = self.inputs.origins, tuple(self.inputs.notices)
        return Trace(self.operator, plan, output, origins, notices)

    def goes_to_file(self) -> bool:
        """Whether the result is written while it is made: data lie in a store, or an input is too
        large to copy into memory.
        """
        settings = self.settings
        if settings.engine is not None:
            return True
        to_store = suffix_of(settings.output or "") in STORES
        if not (settings.only_saves if to_store else settings.goes_to_file):
            return False
        from gscli.stream import worth_streaming

        arrays = self.inputs.arrays
        return any(map(is_left, arrays.values())) or (
            worth_streaming(arrays) and self._keeps_type()
        )

    def _keeps_type(self) -> bool:
        """Whether the result has data's element type; what is divided in JAX may not."""
        layout = layout_of(self.operator, self.inputs.arrays, self.attrs)
        data = self.inputs.arrays.get(layout.data or "")
        return data is None or dtype_name(data.dtype) == layout.dtype

    def written(self) -> Trace:
        """Run from file to file, in memory that does not grow; warn before the first byte."""
        from gscli.views.progress_bar import Progress

        with self.located_errors():
            address = engine_address(self.settings.engine)
            plan = self.judged() if address is None else self._planned()
            with Progress("writing", None, unit="bytes", quiet=self.settings.quiet) as progress:
                output = self._run(plan, progress.update)
        return self._trace(plan, output)

    def _planned(self) -> JudgedPlan:
        """The plan of a call whose indices the workers of a cluster judge."""
        plan = plan_of(self.operator, self.inputs.arrays, self.attrs, max_bytes=self.limit)
        return plan.judged_elsewhere()

    def _run(self, plan: JudgedPlan, progress: Callable[[int, int], None]) -> Array:
        target, address = str(self.settings.output), engine_address(self.settings.engine)
        if address is not None:
            from gscli.stream.cluster.running import run_on_cluster

            return run_on_cluster(plan, target, address, progress=progress)
        if any(map(is_left, plan.inputs.values())):
            give_back_large_blocks()
        if suffix_of(target) in STORES:
            from gscli.stream.chunked.running import run_to_store

            return run_to_store(plan, target, progress=progress)
        from gscli.stream import run_to_file

        return run_to_file(plan, target, progress=progress)

    def patched(self) -> str:
        """Write the updates into the file of data; says what was done."""
        from gscli.stream import patch_in_place
        from gscli.views.progress_bar import Progress

        if any(map(is_left, self.inputs.arrays.values())):
            return self._committed()
        if self.settings.message is not None:
            raise UsageError("--message is what a commit to an Icechunk store says")
        with self.located_errors():
            file = self._file_of_data()
            plan, direct = self.judged(), self.settings.in_place == "direct"
            with Progress("patching", None, unit="bytes", quiet=self.settings.quiet) as progress:
                rows = patch_in_place(plan, file, direct=direct, progress=progress.update)
        return f"{counted(rows, 'row')} changed"

    def _committed(self) -> str:
        """Write the updates into the Icechunk repository of data; says what was done."""
        from gscli.files.stand_ins import store_of
        from gscli.stream.chunked.committing import commit_scatter
        from gscli.views.progress_bar import Progress

        with self.located_errors():
            plan, settings = self.judged(), self.settings
            store = store_of(plan.inputs.get(plan.layout.data or ""))
            if store is None or settings.in_place == "direct":
                raise UsageError("an Icechunk store of data takes a commit, nothing else")
            with Progress("patching", None, unit="bytes", quiet=settings.quiet) as progress:
                done = commit_scatter(plan, store, settings.message, progress=progress.update)
        return f"{counted(done.chunks, 'chunk')} changed, snapshot {done.snapshot or 'as before'}"

    def _held_files(self) -> dict[str, RegularFile]:
        """The .npy files of the inputs, opened before anything is read from them by name."""
        plain = {
            name: path
            for name, path in self.typed.words.items()
            if path.lower().endswith(".npy") and "::" not in path
        }
        opened = {name: open_regular(path) for name, path in plain.items()}
        return {name: file for name, file in opened.items() if file is not None}

    def _file_of_data(self) -> RegularFile:
        layout = layout_of(self.operator, self.inputs.arrays, self.attrs)
        file = self._files.get(layout.data or "")
        if layout.kind != "scatter" or file is None:
            raise UsageError(
                "only a scatter into a .npy file can be done in place",
                where=self.operator.full_name,
                hint="-o FILE writes a new file; it may be the input",
            )
        if not self._keeps_type():
            raise UsageError(
                f"the result is {layout.dtype}, another element type than the file's",
                where=self.operator.full_name,
                hint="-o FILE writes a new file",
            )
        return file

    def judged(self) -> JudgedPlan:
        """The plan of a call, judged and warned of; nothing is read or written yet."""
        plan = plan_of(self.operator, self.inputs.arrays, self.attrs, max_bytes=self.limit).judged()
        warn([*self.inputs.notices, *notices(self.operator, plan)], self.settings)
        return plan

    @contextmanager
    def located_errors(self) -> Iterator[None]:
        """Errors say which file they are about, and how to go on."""
        try:
            yield
        except GscliError as error:
            error.where = with_origin(error.where, self.inputs.origins)
            from gscli.cli.work.ways_on import way_on

            error.hint = way_on(error, self.typed, self.inputs)
            raise


def warn(notices: Sequence[Notice], settings: Settings) -> None:
    """Tell every warning of a run that no picture shows; StrictFinding instead with `--strict`."""
    if settings.strict and notices:
        first = notices[0]
        raise StrictFinding(first.problem, where=first.where, details=first.shown, hint=first.hint)
    seen = settings.prints and not settings.saves
    for notice in notices:
        if not (seen and isinstance(notice, Drawn)):
            from gscli.cli.messages import warning_text

            side = screen(sys.stderr, settings.color, settings.width)
            tell(warning_text(notice, color=side.color, width=side.width, utf8=side.utf8))


def engine_address(text: str | None) -> str | None:
    """`--engine`: the address of a cluster, "" for one of this machine, None for no cluster.

    >>> engine_address("dask=tcp://host:8786"), engine_address("dask"), engine_address(None)
    ('tcp://host:8786', '', None)
    """
    name, _, address = (text or "dask").partition("=")
    if name != "dask":
        raise UsageError(
            "unknown engine", where=f"--engine {text}"[:100], valid="dask, dask=ADDRESS"
        )
    return None if text is None else address


def with_origin(where: str, origins: Mapping[str, str]) -> str:
    """The file's name before a position in one of the inputs.

    >>> with_origin("indices[0] = 7", {"indices": "idx.npy", "data": "inline"})
    'idx.npy: indices[0] = 7'
    """
    origin = origins.get(where.split("[", maxsplit=1)[0].split(" ", maxsplit=1)[0], "inline")
    return where if origin == "inline" else f"{origin}: {where}"
