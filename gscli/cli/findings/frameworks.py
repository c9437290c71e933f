"""What frameworks answered that have rules of their own."""

from __future__ import annotations

from gscli.cli.findings.finding import Finding, case, tensor

FRAMEWORKS: tuple[Finding, ...] = (
    Finding(
        "NumPy 2.4.6",
        case("numpy", "numpy.add.at", {
            "inputs": {
                "a": tensor("float64", [3], 0, 0, 0),
                "indices_0": tensor("int64", [3, 2], 2, 2, 1, 2, 0, 1),
                "b": tensor("float64", [2], 1, 9),
            },
            "attrs": {},
            "output": tensor("float64", [3], 1, 10, 19),
        }),
        "[1.0, 10.0, 19.0]",
        "values from behind b, which stretches over indices of a higher rank",
    ),
    Finding(
        "JAX 0.10.2",
        case("jax", "jax.at.max", {
            "inputs": {
                "x": tensor("int64", [2], 1, 2),
                "indices_0": tensor("bool", [], True),
                "indices_1": tensor("int64", [1], 1),
                "values": tensor("int64", [], 9),
            },
            "attrs": {"subscript": "None,i,i"},
            "output": tensor("int64", [2], 1, 9),
        }),
        "[1, 9]",
        "[9, 2]: behind None a mask without axes takes the axis of the next item, in reads and\n"
        "         writes alike; NumPy's indexing, which JAX promises, and x[True, None] do not",
    ),
    Finding(
        "JAX 0.10.2",
        case("jax", "jax.lax.scatter_min", {
            "inputs": {
                "operand": tensor("int64", [0]),
                "scatter_indices": tensor("int64", [1], 0),
                "updates": tensor("int64", [], 10),
            },
            "attrs": {
                "mode": "clip", "update_window_dims": [], "inserted_window_dims": [0],
                "scatter_dims_to_operand_dims": [0],
            },
        }),
        "index out of range", "[]: nothing to clip to, and nothing is written",
    ),
    Finding(
        "PyTorch 2.13.0",
        case("torch", "torch.index_add", {
            "inputs": {
                "input": tensor("int64", [0, 0]),
                "index": tensor("int64", [1], 5),
                "source": tensor("int64", [1, 0]),
            },
            "attrs": {"dim": 0},
        }),
        "index out of range",
        "an answer: where all slices are empty, indices are not looked at, nor by index_copy,\n"
        "         index_fill and x[…] = values",
    ),
    Finding(
        "PyTorch 2.13.0, torch.compile",
        case("torch:compile", "torch.index_select", {
            "inputs": {
                "input": tensor("int64", [3], 1, 2, 3),
                "index": tensor("int64", [1], -1),
            },
            "attrs": {"dim": 0},
        }),
        "negative index",
        "[3]: compiled, -1 counts from the end, in index_add and index_copy too; eager refuses it",
    ),
    Finding(
        "PyTorch 2.13.0, torch.compile",
        case("torch:compile", "torch.index_add", {
            "inputs": {
                "input": tensor("bool", [2], True, False),
                "index": tensor("int64", [1], 1),
                "source": tensor("bool", [1], True),
            },
            "attrs": {"dim": 0, "alpha": 2},
            "output": tensor("bool", [2], True, True),
        }),
        "[true, true]", "a refusal of bool with an alpha, which eager takes",
    ),
    Finding(
        "TensorFlow 2.21.0, XLA",
        case("tensorflow:xla", "tensorflow.gather_nd", {
            "device": "xla_cpu",
            "inputs": {
                "params": tensor("int64", [1, 1, 1], 1),
                "indices": tensor("int64", [1], 0),
            },
            "attrs": {"bad_indices_policy": "IGNORE"},
            "output": tensor("int64", [1, 1], 1),
        }),
        "[[1]]", "a refusal of a single vector whose slice has several axes, under IGNORE",
    ),
    Finding(
        "TensorFlow 2.21.0, XLA",
        case("tensorflow:xla", "tensorflow.tensor_scatter_nd_add", {
            "device": "xla_cpu",
            "inputs": {
                "tensor": tensor("int64", [2], 1, 2),
                "indices": tensor("int64", [1], 0),
                "updates": tensor("int64", [], 10),
            },
            "attrs": {},
        }),
        "rank 1 is not allowed", "[11, 2]: a single vector, which TensorFlow refuses elsewhere",
    ),
    Finding(
        "TensorFlow 2.21.0, XLA",
        case("tensorflow:xla", "tensorflow.gather", {
            "device": "xla_cpu",
            "inputs": {"params": tensor("int64", [0]), "indices": tensor("int64", [], 0)},
            "attrs": {},
        }),
        "index out of range", "0, read from an empty axis",
    ),
)  # fmt: skip
