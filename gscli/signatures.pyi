# Parameters of every operator, for type checkers and editors: python tests/record.py stubs

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gscli.frameworks.operator import Operator

class _Framework:
    name: str
    title: str
    operators: Mapping[str, Operator]

class _Onnx(_Framework):
    @staticmethod
    def gather(
        data: ArrayLike,
        indices: ArrayLike,
        axis: int = 0,
        opset: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def gather_elements(
        data: ArrayLike,
        indices: ArrayLike,
        axis: int = 0,
        opset: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def gather_nd(
        data: ArrayLike,
        indices: ArrayLike,
        batch_dims: int = 0,
        opset: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter(
        data: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
        axis: int = 0,
        opset: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter_elements(
        data: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
        axis: int = 0,
        reduction: Literal["none", "add", "mul", "max", "min"] = "none",
        opset: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter_nd(
        data: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
        reduction: Literal["none", "add", "mul", "max", "min"] = "none",
        opset: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def tensor_scatter(
        past_cache: ArrayLike,
        update: ArrayLike,
        write_indices: ArrayLike | None = None,
        axis: int = -2,
        mode: Literal["linear", "circular"] = "linear",
        opset: int | None = None,
    ) -> NDArray[Any]: ...

class _Openvino(_Framework):
    @staticmethod
    def gather(
        data: ArrayLike,
        indices: ArrayLike,
        axis: ArrayLike,
        batch_dims: int = 0,
        opset: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def gather_elements(
        data: ArrayLike,
        indices: ArrayLike,
        *,
        axis: int,
        opset: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def gather_nd(
        data: ArrayLike,
        indices: ArrayLike,
        batch_dims: int = 0,
        opset: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter_update(
        data: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
        axis: ArrayLike,
        opset: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter_elements_update(
        data: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
        axis: ArrayLike,
        reduction: Literal["none", "sum", "prod", "min", "max", "mean"] = "none",
        use_init_val: bool = True,
        opset: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter_nd_update(
        data: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
        reduction: Literal["none", "sum", "sub", "prod", "min", "max"] = "none",
        opset: int | None = None,
    ) -> NDArray[Any]: ...

class _Numpy(_Framework):
    @staticmethod
    def take(
        a: ArrayLike,
        indices: ArrayLike,
        axis: int | None = None,
        mode: Literal["raise", "wrap", "clip"] = "raise",
    ) -> NDArray[Any]: ...
    @staticmethod
    def compress(
        condition: ArrayLike,
        a: ArrayLike,
        axis: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def take_along_axis(
        arr: ArrayLike,
        indices: ArrayLike,
        axis: int | None = -1,
    ) -> NDArray[Any]: ...
    @staticmethod
    def put(
        a: ArrayLike,
        ind: ArrayLike,
        v: ArrayLike,
        mode: Literal["raise", "wrap", "clip"] = "raise",
    ) -> NDArray[Any]: ...
    @staticmethod
    def put_along_axis(
        arr: ArrayLike,
        indices: ArrayLike,
        values: ArrayLike,
        *,
        axis: int | None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def getitem(
        a: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        *,
        subscript: str | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def setitem(
        a: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        values: ArrayLike,
        *,
        subscript: str | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def add_at(
        a: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        b: ArrayLike,
        *,
        subscript: str | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def subtract_at(
        a: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        b: ArrayLike,
        *,
        subscript: str | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def multiply_at(
        a: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        b: ArrayLike,
        *,
        subscript: str | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def maximum_at(
        a: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        b: ArrayLike,
        *,
        subscript: str | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def minimum_at(
        a: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        b: ArrayLike,
        *,
        subscript: str | None = None,
    ) -> NDArray[Any]: ...

class _Tensorflow(_Framework):
    @staticmethod
    def gather(
        params: ArrayLike,
        indices: ArrayLike,
        validate_indices: bool | None = None,
        axis: int | None = None,
        batch_dims: int = 0,
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def gather_nd(
        params: ArrayLike,
        indices: ArrayLike,
        batch_dims: int = 0,
        bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "",
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def batch_gather(
        params: ArrayLike,
        indices: ArrayLike,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter_nd(
        indices: ArrayLike,
        updates: ArrayLike,
        shape: ArrayLike,
        bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "",
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def tensor_scatter_nd_update(
        tensor: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
        bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "",
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def tensor_scatter_nd_add(
        tensor: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
        bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "",
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def tensor_scatter_nd_sub(
        tensor: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
        bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "",
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def tensor_scatter_nd_max(
        tensor: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
        bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "",
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def tensor_scatter_nd_min(
        tensor: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
        bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "",
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def unsorted_segment_sum(
        data: ArrayLike,
        segment_ids: ArrayLike,
        *,
        num_segments: int,
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def unsorted_segment_prod(
        data: ArrayLike,
        segment_ids: ArrayLike,
        *,
        num_segments: int,
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def unsorted_segment_max(
        data: ArrayLike,
        segment_ids: ArrayLike,
        *,
        num_segments: int,
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def unsorted_segment_min(
        data: ArrayLike,
        segment_ids: ArrayLike,
        *,
        num_segments: int,
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def unsorted_segment_mean(
        data: ArrayLike,
        segment_ids: ArrayLike,
        *,
        num_segments: int,
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def unsorted_segment_sqrt_n(
        data: ArrayLike,
        segment_ids: ArrayLike,
        *,
        num_segments: int,
        device: Literal["cpu", "gpu", "xla", "xla_cpu"] = "cpu",
    ) -> NDArray[Any]: ...
    @staticmethod
    def segment_sum(
        data: ArrayLike,
        segment_ids: ArrayLike,
    ) -> NDArray[Any]: ...
    @staticmethod
    def segment_prod(
        data: ArrayLike,
        segment_ids: ArrayLike,
    ) -> NDArray[Any]: ...
    @staticmethod
    def segment_max(
        data: ArrayLike,
        segment_ids: ArrayLike,
    ) -> NDArray[Any]: ...
    @staticmethod
    def segment_min(
        data: ArrayLike,
        segment_ids: ArrayLike,
    ) -> NDArray[Any]: ...
    @staticmethod
    def segment_mean(
        data: ArrayLike,
        segment_ids: ArrayLike,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter_nd_update(
        ref: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter_nd_add(
        ref: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter_nd_sub(
        ref: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter_nd_max(
        ref: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter_nd_min(
        ref: ArrayLike,
        indices: ArrayLike,
        updates: ArrayLike,
    ) -> NDArray[Any]: ...

class _Mxnet(_Framework):
    @staticmethod
    def gather_nd(
        data: ArrayLike,
        indices: ArrayLike,
        release: Literal["1.6", "1.9"] = "1.9",
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter_nd(
        data: ArrayLike,
        indices: ArrayLike,
        *,
        shape: Sequence[int],
    ) -> NDArray[Any]: ...
    @staticmethod
    def take(
        a: ArrayLike,
        indices: ArrayLike,
        axis: int = 0,
        mode: Literal["clip", "wrap", "raise"] = "clip",
    ) -> NDArray[Any]: ...
    @staticmethod
    def np_take(
        a: ArrayLike,
        indices: ArrayLike,
        axis: int | None = None,
        mode: Literal["clip", "wrap", "raise"] = "raise",
    ) -> NDArray[Any]: ...
    @staticmethod
    def pick(
        data: ArrayLike,
        index: ArrayLike,
        axis: int = -1,
        keepdims: bool = False,
        mode: Literal["clip", "wrap"] = "clip",
    ) -> NDArray[Any]: ...
    @staticmethod
    def batch_take(
        a: ArrayLike,
        indices: ArrayLike,
    ) -> NDArray[Any]: ...

class _Caffe2(_Framework):
    @staticmethod
    def gather(
        DATA: ArrayLike,
        INDICES: ArrayLike,
        axis: int = 0,
        wrap_indices: bool | None = None,
        match_outer: bool = False,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter(
        DATA: ArrayLike,
        INDICES: ArrayLike,
        UPDATES: ArrayLike,
        axis: int = 1,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter_assign(
        DATA: ArrayLike,
        INDICES: ArrayLike,
        SLICES: ArrayLike,
    ) -> NDArray[Any]: ...

class _Torch(_Framework):
    @overload
    @staticmethod
    def gather(
        input: ArrayLike,
        index: ArrayLike,
        *,
        dim: int,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def gather(
        input: ArrayLike,
        dim: int,
        index: ArrayLike,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def scatter(
        input: ArrayLike,
        index: ArrayLike,
        src: ArrayLike | None = None,
        *,
        dim: int,
        value: complex | str | np.number[Any] | None = None,
        reduce: Literal["add", "multiply"] | None = None,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def scatter(
        input: ArrayLike,
        dim: int,
        index: ArrayLike,
        src: ArrayLike | None = None,
        value: complex | str | np.number[Any] | None = None,
        reduce: Literal["add", "multiply"] | None = None,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def scatter_add(
        input: ArrayLike,
        index: ArrayLike,
        src: ArrayLike,
        *,
        dim: int,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def scatter_add(
        input: ArrayLike,
        dim: int,
        index: ArrayLike,
        src: ArrayLike,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def scatter_reduce(
        input: ArrayLike,
        index: ArrayLike,
        src: ArrayLike,
        *,
        dim: int,
        reduce: Literal["sum", "prod", "mean", "amax", "amin", "max", "min"],
        include_self: bool = True,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def scatter_reduce(
        input: ArrayLike,
        dim: int,
        index: ArrayLike,
        src: ArrayLike,
        reduce: Literal["sum", "prod", "mean", "amax", "amin", "max", "min"],
        include_self: bool = True,
    ) -> NDArray[Any]: ...
    @staticmethod
    def take(
        input: ArrayLike,
        index: ArrayLike,
    ) -> NDArray[Any]: ...
    @staticmethod
    def take_along_dim(
        input: ArrayLike,
        indices: ArrayLike,
        dim: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def put_(
        self: ArrayLike,
        index: ArrayLike,
        source: ArrayLike,
        accumulate: bool = False,
    ) -> NDArray[Any]: ...
    @staticmethod
    def masked_select(
        input: ArrayLike,
        mask: ArrayLike,
    ) -> NDArray[Any]: ...
    @staticmethod
    def masked_scatter(
        input: ArrayLike,
        mask: ArrayLike,
        source: ArrayLike,
    ) -> NDArray[Any]: ...
    @staticmethod
    def max_unpool1d(
        input: ArrayLike,
        indices: ArrayLike,
        kernel_size: int | Sequence[int] | None = None,
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] | None = None,
        output_size: Sequence[int] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def max_unpool2d(
        input: ArrayLike,
        indices: ArrayLike,
        kernel_size: int | Sequence[int] | None = None,
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] | None = None,
        output_size: Sequence[int] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def max_unpool3d(
        input: ArrayLike,
        indices: ArrayLike,
        kernel_size: int | Sequence[int] | None = None,
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] | None = None,
        output_size: Sequence[int] | None = None,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def segment_reduce(
        data: ArrayLike,
        lengths: ArrayLike | None = None,
        offsets: ArrayLike | None = None,
        *,
        reduce: Literal["sum", "mean", "max", "min", "prod", "amax", "amin"],
        axis: int = 0,
        unsafe: bool = False,
        initial: complex | str | np.number[Any] | None = None,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def segment_reduce(
        data: ArrayLike,
        reduce: Literal["sum", "mean", "max", "min", "prod", "amax", "amin"],
        lengths: ArrayLike | None = None,
        offsets: ArrayLike | None = None,
        axis: int = 0,
        unsafe: bool = False,
        initial: complex | str | np.number[Any] | None = None,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def index_select(
        input: ArrayLike,
        index: ArrayLike,
        *,
        dim: int,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def index_select(
        input: ArrayLike,
        dim: int,
        index: ArrayLike,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def index_add(
        input: ArrayLike,
        index: ArrayLike,
        source: ArrayLike,
        *,
        dim: int,
        alpha: complex | str | np.number[Any] = 1,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def index_add(
        input: ArrayLike,
        dim: int,
        index: ArrayLike,
        source: ArrayLike,
        alpha: complex | str | np.number[Any] = 1,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def index_copy(
        input: ArrayLike,
        index: ArrayLike,
        source: ArrayLike,
        *,
        dim: int,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def index_copy(
        input: ArrayLike,
        dim: int,
        index: ArrayLike,
        source: ArrayLike,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def index_fill(
        input: ArrayLike,
        index: ArrayLike,
        *,
        dim: int,
        value: complex | str | np.number[Any],
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def index_fill(
        input: ArrayLike,
        dim: int,
        index: ArrayLike,
        value: complex | str | np.number[Any],
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def index_reduce(
        input: ArrayLike,
        index: ArrayLike,
        source: ArrayLike,
        *,
        dim: int,
        reduce: Literal["prod", "mean", "amax", "amin"],
        include_self: bool = True,
    ) -> NDArray[Any]: ...
    @overload
    @staticmethod
    def index_reduce(
        input: ArrayLike,
        dim: int,
        index: ArrayLike,
        source: ArrayLike,
        reduce: Literal["prod", "mean", "amax", "amin"],
        include_self: bool = True,
    ) -> NDArray[Any]: ...
    @staticmethod
    def index(
        input: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        *,
        subscript: str | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def index_put_(
        self: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        values: ArrayLike,
        accumulate: bool = False,
        *,
        subscript: str | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def embedding(
        input: ArrayLike,
        weight: ArrayLike,
        padding_idx: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def one_hot(
        input: ArrayLike,
        num_classes: int = -1,
    ) -> NDArray[Any]: ...
    @staticmethod
    def embedding_bag(
        input: ArrayLike,
        weight: ArrayLike,
        offsets: ArrayLike | None = None,
        per_sample_weights: ArrayLike | None = None,
        mode: Literal["mean", "sum", "max"] = "mean",
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def nll_loss(
        input: ArrayLike,
        target: ArrayLike,
        weight: ArrayLike | None = None,
        ignore_index: int = -100,
        reduction: Literal["none", "mean", "sum"] = "mean",
    ) -> NDArray[Any]: ...

class _Jax(_Framework):
    @staticmethod
    def at_get(
        x: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        *,
        subscript: str | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
        fill_value: complex | str | np.number[Any] | None = None,
        wrap_negative_indices: bool = True,
    ) -> NDArray[Any]: ...
    @staticmethod
    def at_set(
        x: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        values: ArrayLike,
        *,
        subscript: str | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
        wrap_negative_indices: bool = True,
    ) -> NDArray[Any]: ...
    @staticmethod
    def at_add(
        x: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        values: ArrayLike,
        *,
        subscript: str | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
        wrap_negative_indices: bool = True,
    ) -> NDArray[Any]: ...
    @staticmethod
    def at_subtract(
        x: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        values: ArrayLike,
        *,
        subscript: str | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
        wrap_negative_indices: bool = True,
    ) -> NDArray[Any]: ...
    @staticmethod
    def at_multiply(
        x: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        values: ArrayLike,
        *,
        subscript: str | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
        wrap_negative_indices: bool = True,
    ) -> NDArray[Any]: ...
    @staticmethod
    def at_divide(
        x: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        values: ArrayLike,
        *,
        subscript: str | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
        wrap_negative_indices: bool = True,
    ) -> NDArray[Any]: ...
    @staticmethod
    def at_power(
        x: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        values: ArrayLike,
        *,
        subscript: str | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
        wrap_negative_indices: bool = True,
    ) -> NDArray[Any]: ...
    @staticmethod
    def at_min(
        x: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        values: ArrayLike,
        *,
        subscript: str | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
        wrap_negative_indices: bool = True,
    ) -> NDArray[Any]: ...
    @staticmethod
    def at_max(
        x: ArrayLike,
        indices: ArrayLike | slice | tuple[Any, ...] | None,
        values: ArrayLike,
        *,
        subscript: str | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
        wrap_negative_indices: bool = True,
    ) -> NDArray[Any]: ...
    @staticmethod
    def lax_gather(
        operand: ArrayLike,
        start_indices: ArrayLike,
        *,
        offset_dims: Sequence[int],
        collapsed_slice_dims: Sequence[int],
        start_index_map: Sequence[int],
        operand_batching_dims: Sequence[int] = (),
        start_indices_batching_dims: Sequence[int] = (),
        slice_sizes: Sequence[int],
        unique_indices: bool = False,
        indices_are_sorted: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
        fill_value: complex | str | np.number[Any] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def lax_scatter(
        operand: ArrayLike,
        scatter_indices: ArrayLike,
        updates: ArrayLike,
        *,
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scatter_dims_to_operand_dims: Sequence[int],
        operand_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def lax_scatter_add(
        operand: ArrayLike,
        scatter_indices: ArrayLike,
        updates: ArrayLike,
        *,
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scatter_dims_to_operand_dims: Sequence[int],
        operand_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def lax_scatter_sub(
        operand: ArrayLike,
        scatter_indices: ArrayLike,
        updates: ArrayLike,
        *,
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scatter_dims_to_operand_dims: Sequence[int],
        operand_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def lax_scatter_mul(
        operand: ArrayLike,
        scatter_indices: ArrayLike,
        updates: ArrayLike,
        *,
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scatter_dims_to_operand_dims: Sequence[int],
        operand_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def lax_scatter_min(
        operand: ArrayLike,
        scatter_indices: ArrayLike,
        updates: ArrayLike,
        *,
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scatter_dims_to_operand_dims: Sequence[int],
        operand_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def lax_scatter_max(
        operand: ArrayLike,
        scatter_indices: ArrayLike,
        updates: ArrayLike,
        *,
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scatter_dims_to_operand_dims: Sequence[int],
        operand_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def lax_dynamic_slice(
        operand: ArrayLike,
        start_indices: ArrayLike,
        *,
        slice_sizes: Sequence[int],
        allow_negative_indices: bool = True,
    ) -> NDArray[Any]: ...
    @staticmethod
    def lax_dynamic_update_slice(
        operand: ArrayLike,
        update: ArrayLike,
        start_indices: ArrayLike,
        allow_negative_indices: bool = True,
    ) -> NDArray[Any]: ...
    @staticmethod
    def segment_sum(
        data: ArrayLike,
        segment_ids: ArrayLike,
        num_segments: int | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def segment_prod(
        data: ArrayLike,
        segment_ids: ArrayLike,
        num_segments: int | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def segment_min(
        data: ArrayLike,
        segment_ids: ArrayLike,
        num_segments: int | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def segment_max(
        data: ArrayLike,
        segment_ids: ArrayLike,
        num_segments: int | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def take(
        a: ArrayLike,
        indices: ArrayLike,
        axis: int | None = None,
        mode: Literal["fill", "clip", "wrap"] | None = None,
        unique_indices: bool = False,
        indices_are_sorted: bool = False,
        fill_value: complex | str | np.number[Any] | None = None,
    ) -> NDArray[Any]: ...
    @staticmethod
    def take_along_axis(
        arr: ArrayLike,
        indices: ArrayLike,
        axis: int | None = -1,
        mode: Literal["fill", "drop", "clip", "promise_in_bounds"] | None = None,
        fill_value: complex | str | np.number[Any] | None = None,
        wrap_negative_indices: bool | None = None,
    ) -> NDArray[Any]: ...

class _Stablehlo(_Framework):
    @staticmethod
    def gather(
        operand: ArrayLike,
        start_indices: ArrayLike,
        *,
        offset_dims: Sequence[int] = (),
        collapsed_slice_dims: Sequence[int] = (),
        operand_batching_dims: Sequence[int] = (),
        start_indices_batching_dims: Sequence[int] = (),
        start_index_map: Sequence[int] = (),
        index_vector_dim: int = 0,
        slice_sizes: Sequence[int],
        indices_are_sorted: bool = False,
    ) -> NDArray[Any]: ...
    @staticmethod
    def scatter(
        inputs: ArrayLike,
        scatter_indices: ArrayLike,
        updates: ArrayLike,
        update_window_dims: Sequence[int] = (),
        inserted_window_dims: Sequence[int] = (),
        input_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
        scatter_dims_to_operand_dims: Sequence[int] = (),
        index_vector_dim: int = 0,
        update_computation: Literal["set", "add", "sub", "mul", "max", "min"] = "set",
        xla: bool = False,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
    ) -> NDArray[Any]: ...

onnx: _Onnx
openvino: _Openvino
numpy: _Numpy
tensorflow: _Tensorflow
mxnet: _Mxnet
caffe2: _Caffe2
torch: _Torch
jax: _Jax
stablehlo: _Stablehlo
tf: _Tensorflow

def gather(
    data: ArrayLike,
    indices: ArrayLike,
    axis: int = 0,
    opset: int | None = None,
) -> NDArray[Any]: ...
def gather_elements(
    data: ArrayLike,
    indices: ArrayLike,
    axis: int = 0,
    opset: int | None = None,
) -> NDArray[Any]: ...
def gather_nd(
    data: ArrayLike,
    indices: ArrayLike,
    batch_dims: int = 0,
    opset: int | None = None,
) -> NDArray[Any]: ...
def scatter_elements(
    data: ArrayLike,
    indices: ArrayLike,
    updates: ArrayLike,
    axis: int = 0,
    reduction: Literal["none", "add", "mul", "max", "min"] = "none",
    opset: int | None = None,
) -> NDArray[Any]: ...
def scatter_nd(
    data: ArrayLike,
    indices: ArrayLike,
    updates: ArrayLike,
    reduction: Literal["none", "add", "mul", "max", "min"] = "none",
    opset: int | None = None,
) -> NDArray[Any]: ...
def scatter_update(
    data: ArrayLike,
    indices: ArrayLike,
    updates: ArrayLike,
    axis: ArrayLike,
    opset: int | None = None,
) -> NDArray[Any]: ...
def take(
    a: ArrayLike,
    indices: ArrayLike,
    axis: int | None = None,
    mode: Literal["raise", "wrap", "clip"] = "raise",
) -> NDArray[Any]: ...
