"""Plans on their way to workers: large files travel as names, stores as places."""

from __future__ import annotations

import os
import pickle
from functools import lru_cache

import numpy as np

from gscli.base import CannotRead
from gscli.base.arrays import Array, DType
from gscli.base.records import Record
from gscli.base.words import sanitize
from gscli.disk import mapped
from gscli.disk.mapped import Stamp, open_regular_file
from gscli.plan.plan import Plan, ValidatedPlan

SAME_NAMES = "workers must see inputs and output under the same names"


class FileReference(Record):
    """An array that a worker maps from a file of the same name and with the same content."""

    path: str
    stamp: Stamp
    offset: int
    dtype: DType
    shape: tuple[int, ...]

    def map_array(self) -> Array:
        """The array. CannotRead where the worker's file is not the client's."""
        file = open_regular_file(self.path)
        if file is None:
            path = sanitize(self.path)
            raise CannotRead(f"a worker cannot read {path}", where=path, hint=SAME_NAMES)
        if not file.stamp.is_same_content(self.stamp):
            raise CannotRead(f"{file.name} is another file for a worker", where=file.name)
        count = int(np.prod(self.shape, dtype=np.int64))
        return mapped.map_file(file, self.dtype, (count,), self.offset).reshape(self.shape)


def pickle_plan(plan: Plan) -> bytes:
    """A plan without its judgment, and without the values that lie in files."""
    inputs = {name: to_file_reference(array) for name, array in plan.inputs.items()}
    return pickle.dumps((plan.layout, inputs))


def to_file_reference(array: Array) -> Array | FileReference:
    """The name of the file whose values an array has, or the array itself."""
    place = mapped.find_file(array)
    if place is None:
        return array
    file, offset = place
    if not os.fstat(file.descriptor).st_nlink:  # a temporary file, which no worker can open
        return array
    return FileReference(file.path, file.stamp, offset, array.dtype, array.shape)


@lru_cache(2)
def unpickle_plan(content: bytes) -> ValidatedPlan:
    """The plan again; it looks at no index before it is asked for some entries."""
    layout, inputs = pickle.loads(content)  # noqa: S301  made by `pickle_plan`, sent by the client
    for name, array in inputs.items():
        if isinstance(array, FileReference):
            inputs[name] = array.map_array()
    plan = ValidatedPlan(layout, inputs)
    plan.__dict__["in_bounds"] = (False,) * len(layout.column_axes)
    return plan
