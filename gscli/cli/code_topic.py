"""What `gscli help code` tells. Light."""

from __future__ import annotations

CHECKED = {
    "numpy": ("NumPy", "2.4.6"),
    "torch": ("PyTorch", "2.13.0"),
    "jax": ("JAX", "0.10.2"),
    "tensorflow": ("TensorFlow", "2.21.0"),
    "onnx": ("onnxruntime", "1.31.1"),
    "openvino": ("OpenVINO", "2026.4.1"),
    "stablehlo": ("the StableHLO interpreter of jaxlib", "0.10.2"),
    "mxnet": ("MXNet", "1.9.1"),
}
"""The releases that recorded cases of every operator were run in: tests/vectors/code.json."""

CODE = """\
What is tf.scatter_nd in PyTorch? explain with --code writes the same call for other frameworks,
for the ranks, axes and values that were given:

  gscli explain tf scatter-nd idx.npy upd.npy '[6]' --code torch,jax
  gscli explain gather-elements data.npy idx.npy --axis 1 --code all --check

Targets are numpy, torch, jax, tensorflow, onnx, openvino, stablehlo and mxnet. Each gets a block
that runs when it is pasted: imports, the inputs (numpy.load of a .npy file, numbers where there are
few) and the lines that make `output`. ONNX is the text of a model, StableHLO that of a module, each
with the lines that run it. Above a block stands what is true of it:

  exact                    the same output for every index that the operator takes, and a
                           refusal where it refuses
  exact for these indices  the same output for the inputs given; what would break it is told, such
                           as an index below zero, one out of range, or two updates of one cell
  differs                  these inputs hold something that the framework treats otherwise, such as
                           NaN under max
  none                     the framework cannot do it, and why

"no single call" says that the shortest way is a composition: a mean of a sum and a count, rows that
are dropped by one row more that is cut off, TensorFlow's product from unsorted_segment_prod.

--check runs each block's lines in its framework, in a process of its own, and says whether the
output is equal; the exit status is 1 where it is not. --python PATH names the interpreter that has
the framework. --json prints the same as data, and gscli.code(...) gives it in Python.

Caveats that no line removes: JAX and StableHLO cannot refuse an index inside compiled code, so
check it before (gscli check); nobody but TensorFlow on a CPU promises which of several values
written to one cell stays; floating-point sums may be rounded in another order.

"""


def code() -> str:
    """The topic, with the releases that lines were run in."""
    from textwrap import fill

    told = ", ".join(f"{title} {version}" for title, version in CHECKED.values())
    return (
        CODE + fill(f"Lines for recorded cases of every operator were run in {told}.", 100) + "\n"
    )
