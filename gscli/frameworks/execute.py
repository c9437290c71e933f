"""Operator + arrays -> plan and output. What the command line, Python callers and cases all use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import ContextDecorator
from itertools import chain
from numbers import Integral, Number
from types import NoneType
from typing import Any

from gscli.base import (
    GscliError,
    GscliWarning,
    IndexTypeRefused,
    Notice,
    UpdatesTypeRefused,
    UsageError,
    memory_error,
    translate_errors,
    warn_caller,
)
from gscli.base.arrays import Array, is_lazy
from gscli.base.records import Arguments
from gscli.declare import Signature
from gscli.disk import mapped
from gscli.kernel import gather, scatter
from gscli.layout import Layout
from gscli.layout.axes import DtypeError
from gscli.plan import CallInputs, build_plan, infer_layout
from gscli.plan.plan import Plan, ValidatedPlan

# Entries of a call from Python that is looked through; a trace of any call has its warnings.
MAX_WARNED_ENTRIES = 4096

# Kinds of attributes whose value may be an array or a list.
ARRAY_KINDS = frozenset({"ints", "sizes", "number"})


def call_operator(operator: Signature, inputs: Sequence[object], attrs: Arguments) -> Array:
    """The Python callable of an operator: inputs by position, or by name among the keywords."""
    output: Array = run_and_warn(operator, *_bind_arguments(operator, inputs, attrs))
    return output


def _bind_arguments(
    operator: Signature, inputs: Sequence[object], attrs: Arguments
) -> tuple[Arguments, Arguments]:
    """The inputs by name, and what is left to say."""
    names, second = operator.input_names, operator.second_attribute
    is_named = second is None or second.name in attrs
    is_plain = len(inputs) <= len(names) and (is_named or not inputs[1:])
    if second is not None and inputs[1:] and isinstance(inputs[-1], Number):
        is_plain = False  # dim, or one number for all cells
    order = names if is_plain else _order_positions(operator, inputs, attrs)
    every = dict(zip(order, inputs, strict=False))
    if twice := [name for name in every if name in attrs]:
        raise UsageError(f"{', '.join(twice)} given twice")
    every |= attrs
    values: dict[str, object] = {}
    for name in [name for name in names if name in every]:
        value = every.pop(name)
        if value is not None or name == operator.variadic:
            values[name] = value
    return values, every


def _order_positions(
    operator: Signature, inputs: Sequence[object], attrs: Arguments
) -> Sequence[str]:
    """Names by position, attributes in the framework's order too: behind the inputs, and PyTorch's
    dim, which is a whole number, before the index: gather(x, 1, index), take(x, indices, 1).
    """
    names, own, second = [*operator.input_names], operator.attributes, operator.second_attribute
    hint = "items of a subscript are one tuple, as (0, [1, 2])" * (operator.variadic is not None)
    if second is not None:  # attributes stand by name, unless this one is behind the first input
        order = [names[0], second.name, *names[1:], *(item.name for item in own[1:])]
        hint = f"{operator.name}({', '.join(order)}), or attributes by name"
        word = str if second.kind == "choice" else Integral
        is_own = second.name not in attrs and isinstance(inputs[1], word)
        names[1:1], own = ([second.name], own[1:]) if is_own else ([], ())
    is_full = operator.inputs[-1].optional and len(inputs) == len(names)
    if is_full and isinstance(inputs[-1], Number):
        names[-1:] = operator.scalar_attributes  # as in scatter(x, 0, index, value)
    if operator.variadic is not None:  # where an index too many is none of JAX's promises
        own = tuple(item for item in own if operator.has_byte_masks and item.name != "subscript")
    more, single = inputs[len(names) :], (Number, str, NoneType)
    pairs = zip(own, more, strict=False)
    fits = [isinstance(value, single) or item.kind in ARRAY_KINDS for item, value in pairs]
    if len(more) > len(own) or not all(fits):
        problem = f"{operator.full_name} takes {len(operator.inputs)} inputs, got {len(inputs)}"
        raise UsageError(problem, valid=" ".join(operator.input_names), hint=hint)
    return [*names, *(item.name for item in own)]


def resolve_dtypes(
    operator: Signature, inputs: CallInputs, *, strict: bool, dtype: str | None = None
) -> Layout:
    """Give untyped inputs the type the operator wants; widen typed indices with a warning.

    Data and updates become `dtype` first, where one is asked for; indices never do. Returns the
    layout of the call with these types, which is asked for again only where a type was changed.
    """
    if dtype is not None:
        from gscli.frameworks.typing import cast_inputs

        cast_inputs(operator, inputs, dtype, strict=strict)
    for _ in inputs.arrays:  # a type that suits may bring another one to light
        dtype_errors: list[DtypeError] = []
        try:
            layout = infer_layout(operator, inputs.arrays, inputs.attrs, dtype_errors)
        except GscliError:
            if not dtype_errors:
                raise
        if not dtype_errors:
            return layout
        from gscli.frameworks.typing import resolve_input_dtype

        for refusal in dtype_errors:
            resolve_input_dtype(inputs, refusal, strict=strict)
    return infer_layout(operator, inputs.arrays, inputs.attrs)


def prepare(
    operator: Signature, inputs: CallInputs, *, strict: bool,
    dtype: str | None = None, max_bytes: int | None = None,
) -> Plan:  # fmt: skip
    """The plan of a call whose inputs may lack types: these are settled, the rest is read.

    The shell, batch, comparisons and every call from Python come here.
    """
    layout = resolve_dtypes(operator, inputs, strict=strict, dtype=dtype)
    return build_plan(layout, inputs.arrays, max_bytes)


def execute(
    operator: Signature, inputs: Arguments, attrs: Arguments, *, max_bytes: int | None = None
) -> tuple[ValidatedPlan, Array]:  # fmt: skip
    """Judge, plan and run one call: its plan and its output. Raises GscliError alone.

    Lists take the types that the operator wants, as numbers without a type do in a shell.
    """
    plan = prepare_values(operator, inputs, attrs, max_bytes=max_bytes)
    return run_plan(operator, plan, max_bytes=max_bytes)


def prepare_values(
    operator: Signature, inputs: Arguments, attrs: Arguments,
    *, leave: bool = False, max_bytes: int | None = None,
    choose_dtype: Callable[..., str | None] = lambda *_: None,
) -> Plan:  # fmt: skip
    """The plan of a call from Python, as `execute` has it.

    `leave` is for callers who only want the output: data in the chunks of a zarr or Dask array are
    read by chunk. `choose_dtype`: what type data and updates become in this call of an operator, if
    any.
    """
    try:
        call = CallInputs.from_values(operator, inputs, attrs, leave=leave, max_bytes=max_bytes)
        dtype = choose_dtype(operator, call)
        return prepare(operator, call, strict=True, dtype=dtype, max_bytes=max_bytes)
    except GscliError as error:
        error.hint = hint_at_files(error, inputs.values()) or error.hint
        raise
    except MemoryError as error:
        raise memory_error(operator.full_name) from error


# Options and commands in words of the shell.
_SHELL_WORDS = re.compile(r"(gscli | of )((?:gather|scatter)[a-z-]*)|--([a-z-]+)[ =](\w+)[|\w]*")


def translate_to_python(hint: str) -> str:
    """Options as arguments, commands as functions; of an option and what Python has, the latter.

    >>> translate_to_python("--device cpu"), translate_to_python("moved by gscli scatter-update")
    ('device="cpu"', 'moved by gscli.scatter_update')
    """

    def write_in_python(match: re.Match[str]) -> str:
        before, command, option, value = match.groups()
        if command:
            return before.replace("gscli ", "gscli.") + command.replace("-", "_")
        name = "only" if option == "as" else option.replace("-", "_")
        return f'{name}="{value}"' if value.islower() else f"{name}={value}"

    own = hint.rpartition("in Python ")[2] if hint.startswith("-") else hint
    text = _SHELL_WORDS.sub(write_in_python, own)
    return re.sub(r"^max_bytes=\d+$", r"gscli.run(…, \g<0>)", text)


def translate_notice(notice: Notice) -> Notice:
    """A warning for a caller from Python, its hint in Python's words."""
    notice.hint = translate_to_python(notice.hint)
    return notice


class _PythonHints(ContextDecorator):
    """What a caller from Python is refused has its hints in Python's words.

    >>> with PYTHON_HINTS:
    ...     raise UsageError("too late", hint="--device cpu")
    Traceback (most recent call last):
    gscli.base.UsageError: too late; device="cpu"
    """

    def __enter__(self) -> None:
        """Nothing is to be done before there is a refusal."""

    def __exit__(self, kind: object, error: object, frames: object) -> None:
        """Translate the hint of a refusal, which goes on."""
        if isinstance(error, GscliError):
            error.hint = translate_to_python(error.hint)


PYTHON_HINTS = _PythonHints()


def hint_at_files(error: GscliError | None, values: Iterable[object]) -> str:
    """How a file is read, where its name was given in place of an array; "" where none was."""
    parts = chain.from_iterable(each if isinstance(each, tuple) else (each,) for each in values)
    names = [part for part in parts if isinstance(part, str)]
    is_type = isinstance(error, IndexTypeRefused | UpdatesTypeRefused)
    is_refused = is_type or (error is not None and not error.hint)
    return f"gscli.load({names[0]!r}) reads a file" if names and is_refused else ""


def run_plan(
    operator: Signature, draft: Plan, *, max_bytes: int | None = None, overlay: bool = False
) -> tuple[ValidatedPlan, Array]:
    """Judge and run a plan, as `execute` does with the one it makes.

    With `overlay`, the output of a scatter into a large mapped file has the file's own pages where
    nothing is written: for callers that are done with it before the file changes.
    """
    try:
        data = draft.layout.data_name
        if data is not None and is_lazy(draft.inputs[data]):
            from gscli.stream.chunked.to_store import run_in_memory

            plan = draft.validate()
            return plan, run_in_memory(plan, max_bytes)
        plan = draft.validate(lazy=True)
        return plan, run_kernel(plan, overlay=overlay)
    except MemoryError as error:
        raise memory_error(operator.full_name) from error


def run_and_warn(
    operator: Signature, inputs: Arguments, attrs: Arguments, path: str | None = None,
    *, max_bytes: int | None = None,
) -> Any:  # fmt: skip
    """The output of a call from Python, written to `path` as the command's `-o` does it.

    A caller who makes errors of warnings has them before anything is written. A .npy file and a
    .zarr store are streams: memory does not grow with them. Of a file this is the .npy file mapped,
    the array of the zarr package, or what was saved in another format.
    """
    with PYTHON_HINTS:
        draft = prepare_values(operator, inputs, attrs, leave=True, max_bytes=max_bytes)
        if path is not None and _is_streamed(draft, path):
            from gscli.stream import write_result

            with translate_errors(lambda _: memory_error(operator.full_name), MemoryError):
                plan = draft.validate()
                print_warnings(operator, plan)
                written = write_result(plan, path)
                return written.source.array if is_lazy(written) else written
        plan, output = run_plan(operator, draft, max_bytes=max_bytes)
        print_warnings(operator, plan)
        if path is not None:
            from gscli import files

            files.save(path, output)
        return output


def _is_streamed(draft: Plan, path: str) -> bool:
    """Whether a result flows into such a file block by block."""
    from gscli.files.request import file_suffix

    is_flat = draft.layout.fold is None and draft.layout.dtype != "str" and draft.has_data_dtype
    return is_flat and file_suffix(path) in (".npy", ".zarr")


def run_kernel(plan: ValidatedPlan, *, overlay: bool = False) -> Array:
    """All that a plan gives; `overlay` as in `run_plan`."""
    layout = plan.layout
    data = plan.inputs[layout.data_name] if layout.data_name is not None else None
    if data is not None and layout.data_shape != data.shape:
        data = data.reshape(layout.data_shape)
    if layout.kind == "gather":
        assert data is not None
        return gather(plan, data)
    base = mapped.map_copy_on_write(data) if overlay and data is not None else None
    return scatter(plan, data, base=base)


def collect_notices(operator: Signature, plan: ValidatedPlan) -> list[Notice]:
    """Every warning of a run. What words them is loaded where there may be one.

    >>> import gscli
    >>> found = gscli.trace("scatter_nd", {"data": [1], "indices": [[0], [0]], "updates": [2, 3]})
    >>> [notice.problem for notice in collect_notices(found.operator, found.plan)]
    ['2 entries write the same cell']
    """
    layout, notices = plan.layout, list[Notice]()
    if layout.unspecified_order and not plan.has_disjoint_writes:
        from gscli.frameworks.duplicates import duplicate_notice

        notices += duplicate_notice(operator, plan)
    as_written = layout.has_strict_row_indices or all(plan.in_bounds)
    if layout.unspecified or not (as_written and plan.has_exact_updates):
        from gscli.frameworks.notices import collect_plan_notices

        notices += collect_plan_notices(operator, plan)
    return notices


def print_warnings(operator: Signature, plan: ValidatedPlan) -> None:
    """Tell a caller from Python, by its own warnings; very large calls are not looked through."""
    if plan.layout.entry_count <= MAX_WARNED_ENTRIES:
        for notice in collect_notices(operator, plan):
            warn_caller(GscliWarning(translate_notice(notice)))
