"""Sentences of the help with a number, a range or a type in them, held against runs."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import shell

from gscli.base import ExitCode
from gscli.cli import run_safely
from gscli.frameworks import find_operator, operators
from gscli.frameworks.operator import Operator
from gscli.lab.difference import DEFAULT_RTOL, Tolerance
from gscli.lab.examples import build_probe
from gscli.lab.rules import Rule, compute_rules

NUMBERED = re.compile(r"\d|…|NaN|bits")
LEGAL = re.compile(r"(-[sn]|0) … ([sn]-1|num_segments-1)")
EMPTY = re.compile(r"(?:empty segment|segment without rows|without any) (?:is|are) (\d)")
SHAPES = re.compile(r"(?:shape|output)[^=;.]* = |\+\+|\[i|\[m,n")


def sentences(operator: Operator) -> list[str]:
    """Those of the operator's help that tell a number, a range or a limit."""
    text = re.sub(r"\s+", " ", operator.doc)
    return [told for told in re.split(r"(?<=[.;]) ", text) if NUMBERED.search(told)]


def told(pattern: re.Pattern[str]) -> Iterator[tuple[Operator, str]]:
    """Every sentence of every operator in which a pattern stands."""
    for operator in operators():
        yield from ((operator, found) for found in sentences(operator) if pattern.search(found))


def _rows(operator: Operator, sentence: str) -> list[Rule]:
    """The rows of the version that a sentence is about, or of every choice that refuses."""
    return [
        rule
        for rule in compute_rules([operator])
        if not rule.versions
        or any(re.search(rf"(version |ND-|Gather-|-){n}\b", sentence) for n in rule.versions)
        or not re.search(r"version \d|ND-\d|Gather-\d", sentence)
    ]


@pytest.mark.parametrize(
    ("operator", "sentence"),
    [(one.full_name, found) for one, found in told(LEGAL) if re.search("[Ll]egal|expect", found)],
)
def test_a_legal_range_is_what_the_operator_takes(operator: str, sentence: str) -> None:
    for part in re.split(r", (?=-s|0 …)", sentence):
        low = LEGAL.search(part)
        assert low
        negative = {
            rule.negative.partition(" (")[0] for rule in _rows(find_operator(operator), part)
        }
        wanted = "from the end" if low[1] != "0" else "error"
        assert wanted in negative, (part, negative)


def test_ranges_are_told_at_all() -> None:
    assert len({operator.full_name for operator, _ in told(LEGAL)}) >= 15


@pytest.mark.parametrize(
    ("operator", "value"), [(one.full_name, EMPTY.search(found)) for one, found in told(EMPTY)]
)
def test_an_empty_segment_holds_what_is_told(operator: str, value: re.Match[str]) -> None:
    found = find_operator(operator)
    names = {item.name for item in found.attributes}
    attrs = {"num_segments": 4} if "num_segments" in names else {}
    output = found(np.array([5.0, 6.0]), np.array([1, 3]), **attrs)
    assert output.tolist() == [int(value[1]), 5.0, int(value[1]), 6.0]


@pytest.mark.parametrize(
    "operator",
    sorted({one.full_name for one, _ in told(re.compile("NaN (on either side )?stays"))}),
)
def test_nan_stays_where_that_is_told(operator: str) -> None:
    probe = build_probe(find_operator(operator), {})
    assert probe is not None
    layout = probe.layout
    assert layout.updates is not None
    assert layout.updates.nan_wins
    assert layout.updates.name is not None
    inputs = {name: array.astype(float) if name in (layout.data_name, layout.updates.name)
        else array
              for name, array in probe.inputs.items()}  # fmt: skip
    for reduction in ("reduce", "update_computation"):
        named = {"reduce": "amax", "update_computation": "max"}[reduction]
        has = any(item.name == reduction for item in find_operator(operator).attributes)
        attrs = dict(probe.attrs) | ({reduction: named} if has else {})
        inputs[layout.updates.name] = np.full_like(inputs[layout.updates.name], np.nan)
        assert np.isnan(find_operator(operator)(*inputs.values(), **attrs)).any()


def of(dtype: str, *data: Any) -> str:
    """A tensor with its type, as a word of the command line."""
    shape = list(np.shape(data))
    flat = np.ravel(np.array(data)).tolist()
    return shlex.quote(json.dumps({"dtype": dtype, "shape": shape, "data": flat}))


ONE_AND_NAN = """'{"dtype":"float64","shape":[2],"data":[1,"nan"]}'"""

# Operator, words of its help, a command that shows it, and its output or what its refusal says.
HELD: list[tuple[str, str, str, Any]] = [
    ("onnx.gather", "0 included", "gather [10,20] 1", 20),
    ("onnx.scatter", "ended with opset 10", "onnx scatter [1] [0] [2] --opset 11",
     "ended with opset 10"),
    ("onnx.scatter", "opset 11 and later", "scatter-elements [1] [0] [2] --opset 11", [2]),
    ("numpy.take", "False is 0", "numpy take [10,20] [true,false]", [20, 10]),
    ("numpy.take", "negative indices read 0", "numpy take [10,20] [-1] --mode clip", [10]),
    ("numpy.take", "length 0", "numpy take [] [0] --mode wrap", "index out of range"),
    ("numpy.take", "its shape were [1]", "numpy take 7 [0]", [7]),
    ("numpy.compress", "may be of numbers", "numpy compress [2,0,1] [10,20,30]", [10, 30]),
    ("numpy.compress", "its shape were [1]", "numpy compress [true] 7", [7]),
    ("numpy.put", "1.75 becomes 1", "numpy put [5] [0] [1.75]", [1]),
    ("numpy.add.at", "1.5 into an integer", "numpy add-at [1] [0] [1.5]", [2]),
    ("numpy.add.at", "of shape [1,n] too", "numpy add-at [[1,2],[3,4]] : 0 [[5,6]]",
     [[6, 2], [9, 4]]),
    ("numpy.getitem", "-s … -1", "numpy getitem [10,20] [-2]", [10]),
    ("numpy.getitem", "1:9:2", "numpy getitem arange:6 1:9:2", [1, 3, 5]),
    ("numpy.setitem", "1.75 becomes 1", "numpy setitem [5,6] [0] 1.75", [1, 6]),
    ("numpy.setitem", "that stands alone", "numpy setitem [[5,6]] [[true,true]] [[7,8]]",
     "values for a mask of a's own shape have at most one axis"),
    ("numpy.setitem", "that stands alone", "numpy setitem 5 true [[7]]",
     "values for a mask of a's own shape have at most one axis"),
    ("numpy.setitem", "that stands alone", "numpy setitem [[5,6]] [[true,true]] ... [[7,8]]",
     [[7, 8]]),
    ("numpy.take_along_axis", "rank 1", "numpy take-along-axis [[1,2]] [[0]] --axis none",
     "without an axis indices have rank 1"),
    ("tensorflow.gather_nd", "m may be 0", "tf gather-nd [1,2] zeros:1x0:int64", [[1, 2]]),
    ("tensorflow.scatter_nd", "Untouched", "tf scatter-nd [[1]] [5] [3]", [0, 5, 0]),
    ("tensorflow.scatter_nd_update", "rank 1 are refused", "tf scatter-nd-update [1,2] [0] [5]",
     "rank 1 is not allowed"),
    ("tensorflow.batch_gather", "q-1", "tf batch-gather [[1,2],[3,4]] [[1],[0]]", [[2], [3]]),
    ("tensorflow.unsorted_segment_sqrt_n", "floats only",
     "tf unsorted-segment-sqrt-n [1] [0] --num-segments 1", "data cannot be int64"),
    ("tensorflow.segment_mean", "int8 100",
     f"tf segment-mean {of('int8', 100, 100, 100)} [0,0,0]", "data cannot be int8"),
    ("tensorflow.tensor_scatter_nd_max", "changes nothing",
     "tf tensor-scatter-nd-max [1.0,NaN] [[0],[1]] [NaN,2.0]", [1, "nan"]),
    ("tensorflow.tensor_scatter_nd_max", "changes nothing",
     "tf tensor-scatter-nd-max [1.0,NaN] [[0],[1]] [NaN,2.0] --device xla", [1, "nan"]),
    ("mxnet.gather_nd", "-0.5", "mxnet gather-nd [10,20,30] [[-0.5]]", [30]),
    ("mxnet.gather_nd", "0 … s-1", "mxnet gather-nd [10,20] [[-1]] --release 1.6",
     "negative index"),
    ("mxnet.take", "clip: negatives mean 0", "mxnet take [10,20] [-1]", [10]),
    ("mxnet.take", "even -1", "mxnet take [10,20] [-1] --mode raise", "negative index"),
    ("mxnet.take", "count as 0 and 1", "mxnet take [10,20] [true]", [20]),
    ("caffe2.gather", "axis is written 0", "caffe2 gather [10,20] [-1]", [20]),
    ("caffe2.scatter_assign", "0 … s-1", "caffe2 scatter-assign [1,2] [-1] [5]", "negative index"),
    ("torch.gather", "rank 1", "torch gather 7 0 --dim 0", 7),
    ("torch.scatter", "2.9 is 2", "torch scatter [1] [0] --value 2.9 --dim 0", [2]),
    ("torch.gather", "without entries may have any shape",
     f"torch gather [[1]] {of('int64', [], [])} --dim 1", [[], []]),
    ("torch.scatter", "unless it is empty",
     f"torch scatter [[1]] {of('int64', [], [])} [[2]] --dim 1", [[1]]),
    ("torch.take", "-n … n-1", "torch take [[1,2],[3,4]] [-4,3]", [1, 4]),
    ("torch.take_along_dim", "100 on 4", "torch take-along-dim [1,2,3,4] [100] --dim 0", [1]),
    ("torch.take_along_dim", "only 0 … n-1", "torch take-along-dim [1,2] [-1]", "negative index"),
    ("torch.index_select", "size 1", "torch index-select [1,2] 1 --dim 0", [2]),
    ("torch.index", "-s … -1", "torch index [10,20] [-2]", [10]),
    ("torch.index", "a step of 1 or more", "torch index [10,20] ::-1",
     "a slice cannot have this step"),
    ("torch.index_put_", "self's type",
     """torch index-put [1.0] [0] '{"dtype":"int32","shape":[1],"data":[1]}'""",
     "values must have self's element type"),
    ("jax.at.get", "-s … -1", "jax at-get [10,20] [-2]", [10]),
    ("jax.at.get", "32 bits", "jax at-get [10,20] [4294967297]", [20]),
    ("jax.at.set", "-s … -1", "jax at-set [10,20] [-3,-1] [5,6]", [10, 6]),
    ("jax.at.divide", "whole numbers become", "jax at-divide [10] [0] [4]", [2.5]),
    ("jax.at.divide", "types of 2 bits", "jax at-divide [1] [0] [1] --dtype int2",
     "x cannot be int2"),
    ("jax.at.power", "-1 is 63", "jax at-power [2] [0] [-1]", ["-9223372036854775808"]),
    ("jax.at.power", "2 or 4 bits", "jax at-power [1] [0] [1] --dtype int2", "x cannot be int2"),
    ("jax.at.power", "integers of 2 or 4", "jax at-power [1] [0] [1] --dtype float4_e2m1fn", [1]),
    ("jax.at.get", "numbers without axes that JAX", "jax at-get [[10],[20]] 4294967295", [20]),
    ("jax.at.get", "not under fill",
     "jax at-get [[true],[false]] 4294967295 --mode fill", [True]),
    ("jax.at.get", "one axis never", "jax at-get [10,20] 4294967296", 20),
    ("jax.at.power", "in integer types", "jax at-power [2.0] [0] [64]", [2.0**64]),
    ("jax.take", "-1 reads 0", "jax take [10,20] [-1] --mode clip", [10]),
    ("jax.take", "2^32 + 1 reads row 1", "jax take [10,20] [4294967297]", [20]),
    ("jax.take", "length 0", "jax take [] [0]", "index into an empty axis"),
    ("jax.take_along_axis", "count from the end once",
     "jax take-along-axis [10,20] [-1] --mode promise_in_bounds", [10]),
    ("jax.take_along_axis", "count from the end once",
     "jax take-along-axis [10,20] [-1] --mode promise_in_bounds --wrap-negative-indices", [20]),
    ("jax.take_along_axis", "cut to 32 bits",
     "jax take-along-axis [10,20] [4294967296] --mode promise_in_bounds", [20]),
    ("jax.take", "Only fill takes bool", "jax take [10,20] [true] --mode wrap",
     "indices must be integers, got bool"),
    ("jax.take", "-0 if a type has none", "jax take [1] [5] --dtype float4_e2m1fn", [0]),
    ("jax.segment_min", "or the highest number",
     "jax segment-min [1] [1] --num-segments 2 --dtype float4_e2m1fn", [6, 1]),
    ("jax.segment_max", "begin with NaN",
     "jax segment-max [1] [1] --num-segments 2 --dtype float8_e4m3fn", ["nan", "nan"]),
    ("jax.take_along_axis", "length 0", "jax take-along-axis zeros:0 [3]", [0]),
    ("jax.segment_sum", "negative ones too", "jax segment-sum [1,2] [-1,0] --num-segments 1", [2]),
    ("jax.segment_sum", "32 bits", "jax segment-sum [1] [4294967296] --num-segments 1", [1]),
    ("onnx.gather", "Legal", "gather [10,20] [-2,1]", [10, 20]),
    ("openvino.gather", "reads zero", "openvino gather [10,20] [5,-1] 0", [0, 20]),
    ("openvino.scatter_elements_update", "version 12 on",
     "openvino scatter-elements-update [1] [0,0] [5,6] 0 --opset 3",
     "indices is longer than data along the axis"),
    ("openvino.scatter_elements_update", "version 12 on",
     "openvino scatter-elements-update [1] [0,0] [5,6] 0", [6]),
    ("numpy.take", "2^63", f"numpy take [1,2,3] {of('uint64', 2**64 - 1)} --mode clip", [3]),
    ("numpy.take_along_axis", "2^63", f"numpy take-along-axis [1,2] {of('uint64', 2**64 - 1)}",
     "index out of range"),
    ("numpy.getitem", "2^63", f"numpy getitem [1,2] {of('uint64', 2**64 - 1)}",
     "index out of range"),
    ("numpy.put", "refuses uint64",
     """numpy put [1] '{"dtype":"uint64","shape":[1],"data":[0]}' [5]""", [5]),
    ("numpy.put_along_axis", "rank 1", "numpy put-along-axis [1,2] [[0]] [5] --axis none",
     "without an axis indices have rank 1"),
    ("tensorflow.gather", "-1 also means",
     "tf gather [[1,2],[3,4]] [[1],[0]] --batch-dims -1", [[2], [3]]),
    ("tensorflow.unsorted_segment_sum", "int16 ids",
     """tf unsorted-segment-sum [1] '{"dtype":"int16","shape":[1],"data":[0]}' --num-segments 1""",
     [1]),
    ("tensorflow.unsorted_segment_max", "NaN is chosen",
     "tf unsorted-segment-max [NaN,1.0] [0,0] --num-segments 1", ["nan"]),
    ("tensorflow.unsorted_segment_min", "NaN is chosen",
     "tf unsorted-segment-min [NaN,1.0] [0,0] --num-segments 1", ["nan"]),
    ("tensorflow.segment_max", "NaN is chosen", "tf segment-max [NaN,1.0] [0,0]", ["nan"]),
    ("tensorflow.segment_min", "NaN is chosen", "tf segment-min [NaN,1.0] [0,0]", ["nan"]),
    ("tensorflow.unsorted_segment_mean", "float64",
     "tf unsorted-segment-mean [1,2] [0,0] --num-segments 1", [1.5]),
    ("tensorflow.segment_sum", "from 0 on", "tf segment-sum [1] [-1]", "segment_ids are negative"),
    ("tensorflow.tensor_scatter_nd_min", "changes nothing",
     "tf tensor-scatter-nd-min [1.0] [[0]] [NaN] --device xla", [1]),
    ("mxnet.batch_take", "as long as a", "mxnet batch-take [[1,2],[3,4]] [0]",
     "batch_take wants a matrix"),
    ("torch.index_select", "rank 0 takes one", "torch index-select 7 [0,0] --dim 0",
     "input of rank 0 takes one index"),
    ("torch.index_select", "uint16",
     """torch index-select [[5]] '{"dtype":"uint16","shape":[1],"data":[0]}' --dim 0""", [[5]]),
    ("torch.put_", "from the end", "torch put [1,2] [-1] [5]", [1, 5]),
    ("torch.index_copy", "0 … s-1", "torch index-copy [1,2] [-1] [5] --dim 0", "negative index"),
    ("torch.index", "of rank 0 also int8",
     """torch index [10,20] '{"dtype":"int8","shape":[],"data":[1]}' --strict""", 20),
    ("torch.index", "of rank 0 also int8", f"torch index [10,20] {of('int8', 1)} --strict",
     "indices_0 cannot be int8"),
    ("torch.index", "takes its axis away", "torch index [[10,20],[30,40]] 1 [0]", [30]),
    ("jax.at.power", "bool with bool", "jax at-power [true] [0] [true]",
     "pow has no meaning for bool"),
    ("jax.lax.gather", "collapsed axes are 1",
     ("jax lax-gather [1,2] [[0]] --offset-dims '' --collapsed-slice-dims 0 "
     "--start-index-map 0 --slice-sizes 2"), "slice_sizes does not fit"),
    ("onnx.scatter", "opset 9 and 10", "onnx scatter [1] [0] [2] --opset 9", [2]),
    ("openvino.gather_nd", "into one",
     "openvino gather-nd zeros:2x2x3 zeros:2x2x1:int64 --batch-dims 2 --opset 5", [0, 0, 0, 0]),
    ("openvino.gather_nd", "size 1 stretch",
     "openvino gather-nd zeros:2x3 zeros:1x1:int64 --batch-dims 1", "batch axes differ"),
    ("openvino.scatter_update", "rank 0", "openvino scatter-update [1,2] 0 5 0", [5, 2]),
    ("openvino.scatter_nd_update", "any one element",
     "openvino scatter-nd-update [1,2] [0] [5]", [5, 2]),
    ("numpy.take_along_axis", "either side stretches",
     "numpy take-along-axis [[1,2],[3,4]] [[1]] --axis 1", [[2], [4]]),
    ("numpy.put_along_axis", "the shape that this gives",
     "numpy put-along-axis [[1,2],[3,4]] [[0]] [[7],[8]] --axis 1", [[7, 2], [8, 4]]),
    ("numpy.put_along_axis", "stretch over arr",
     "numpy put-along-axis [[1,2],[3,4]] [[1]] 9 --axis 1", [[1, 9], [3, 9]]),
    ("numpy.put_along_axis", "an axis of arr of size 1",
     "numpy put-along-axis [[1,2]] [[0],[1]] 9 --axis 1", [[9, 9]]),
    ("tensorflow.gather", "vanish",
     "tf gather [[1,2],[3,4]] [1,0] --axis 0 --batch-dims 1", [[3, 4], [1, 2]]),
    ("tensorflow.gather", "written as -r",
     "tf gather [[1,2],[3,4]] [1,0] --axis -2 --batch-dims 1", "batch_dims is beyond the axis"),
    ("tensorflow.gather", "-1 is the last row",
     "tf gather [[1,2],[3,4]] [[-1],[0]] --batch-dims 1 --device xla", [[2], [3]]),
    ("tensorflow.gather", "to the border", "tf gather [1,2] [-1,5] --device xla", [1, 2]),
    ("tensorflow.unsorted_segment_prod", "an id too large one by",
     "grad tf unsorted-segment-prod [1.0,2] [0,7] --num-segments 3 --device xla", [1, 0]),
    ("tensorflow.unsorted_segment_prod", "gscli gives both 0",
     f"grad tf unsorted-segment-prod {ONE_AND_NAN} [0,-1] --num-segments 3", [1, 0]),
    ("tensorflow.batch_gather", "but the last",
     "tf batch-gather [[1,2],[3,4]] [[1,0],[0,0]]", [[2, 1], [3, 3]]),
    ("tensorflow.unsorted_segment_sum", "the others take",
     f"tf unsorted-segment-max [1] {of('int16', 0)} --num-segments 1 --strict",
     "segment_ids cannot be int16"),
    ("mxnet.gather_nd", "first M axes", "mxnet gather-nd [[1,2],[3,4]] [[1]]", [[3, 4]]),
    ("mxnet.gather_nd", "checks nothing",
     "mxnet gather-nd [[1,2,3],[4,5,6]] [[1],[-1]] --release 1.6", "negative index"),
    ("mxnet.scatter_nd", "(0,2)", "mxnet scatter-nd [7] [[1],[-1]] --shape 3,3", "negative index"),
    ("mxnet.np.take", "length 0", "mxnet np-take [] [0]", "index out of range"),
    ("mxnet.pick", "with length 1 there", "mxnet pick [[1,2],[3,4]] [[1],[0]]", [2, 3]),
    ("mxnet.pick", "without the axis", "mxnet pick [[1,2],[3,4]] [1,0]", [2, 3]),
    ("mxnet.batch_take", "more axes than two",
     f"mxnet batch-take zeros:2x2x2 {of('int32', 0, 0)}", "batch_take wants a matrix"),
    ("caffe2.gather", "match_outer (axis ≥ 1)",
     "caffe2 gather [[1,2],[3,4]] [[1],[0]] --axis 1 --match-outer", [[2], [3]]),
    ("caffe2.gather", "match_outer (axis ≥ 1)", "caffe2 gather [1,2] [1] --match-outer",
     "match_outer needs axes"),
    ("caffe2.gather", "axis of length 0", "caffe2 gather zeros:0x3 [5]", []),
    ("caffe2.gather", "no index is looked at", "caffe2 gather zeros:2x0 [5]", [[]]),
    ("caffe2.scatter", "shorter than INDICES", "caffe2 scatter [1,2] [0,1] [5] --axis 0",
     "UPDATES has the wrong shape"),
    ("caffe2.scatter", "judges only the first", "caffe2 scatter [1,2] [0,2] [5,6] --axis 0",
     "index out of range"),
    ("caffe2.scatter_assign", "along axis 0",
     "caffe2 scatter-assign [[1,2],[3,4]] [1] [[5,6]]", [[1, 2], [5, 6]]),
    ("caffe2.scatter_assign", "No index is checked", "caffe2 scatter-assign [1,2] [2] [5]",
     "index out of range"),
    ("caffe2.scatter_assign", "float64",
     "caffe2 scatter-assign zeros:2:float64 [0] zeros:1:float64", [0, 0]),
    ("caffe2.scatter_assign", "float64",
     "caffe2 scatter-assign zeros:2:int16 [0] zeros:1:int16", "DATA cannot be int16"),
    ("torch.scatter_add", "rounded once",
     f"torch scatter-add {of('float16', 2048)} [0,0] {of('float16', 1, 1)} --dim 0", [2050]),
    ("torch.scatter_reduce", "rounded once",
     f"torch scatter-reduce {of('float16', 2048)} [0,0] {of('float16', 1, 1)} --dim 0 --reduce sum",
     [2050]),
    ("torch.scatter_reduce", "starts from the identity",
     "torch scatter-reduce [NaN,7.0] [0] [2.0] --dim 0 --reduce sum --no-include-self", [2, 7]),
    ("torch.take_along_dim", "on both sides",
     "torch take-along-dim [[1,2],[3,4]] [[1]] --dim 1", [[2], [4]]),
    ("torch.take_along_dim", "on both sides",
     "torch take-along-dim [[1,2]] [[1],[0]] --dim 1", [[2], [1]]),
    ("torch.index_add", "after every step",
     f"torch index-add {of('float16', 2048)} [0,0] {of('float16', 1, 1)} --dim 0", [2048]),
    ("torch.index_add", "rank 2 or more",
     f"torch index-add {of('float16', [2048])} [0,0] {of('float16', [1], [1])} --dim 0", [[2050]]),
    ("torch.index_copy", "rank 0 counts", "torch index-copy 7 0 5 --dim 0", 5),
    ("torch.index_fill", "int64",
     f"torch index-fill [1] {of('int32', 0)} --value 5 --dim 0 --strict", "index cannot be int32"),
    ("torch.index_fill", "imaginary part is 0",
     "torch index-fill [1.0] [0] --value 1+0j --dim 0", "value does not fit float64"),
    ("torch.index_reduce", "only from rank 2 on",
     "torch index-reduce [true] [0] [false] --dim 0 --reduce amin", "input cannot be bool"),
    ("torch.index_reduce", "only from rank 2 on",
     "torch index-reduce [[true]] [0] [[false]] --dim 0 --reduce amin", [[False]]),
    ("torch.index_reduce", "with include_self",
     "torch index-reduce [[true]] [0] [[false]] --dim 0 --reduce amin --no-include-self",
     "input cannot be bool"),
    ("torch.index_put_", "of any rank", "torch index-put [1,2] [true,false] [[[9]]]", [9, 2]),
    ("torch.index_put_", "more axes", "torch index-put [1,2] [1,0] [[7,8]]", "does not stretch"),
    ("torch.index_put_", "Without accumulate",
     "torch index-put [1,2] [true,false] [[[9]]] --accumulate", "does not stretch"),
    ("torch.index_put_", "Without accumulate",
     f"torch index-put [1,2] {of('uint8', 1, 0)} [9] --accumulate", [10, 2]),
    ("torch.index_put_", "except one of uint8",
     f"torch index-put [1,2] {of('uint8', 1, 0)} [[[9]]]", "a mask of uint8 takes no single value"),
    ("torch.max_unpool1d", "cells they came from",
     "torch max-unpool1d [[0.5,0.75]] [[1,2]] --kernel-size 2", [[0, 0.5, 0.75, 0]]),
    ("torch.max_unpool1d", "position along the pooled axis of output, from 0",
     "torch max-unpool1d [[0.5]] [[0]] --kernel-size 2", [[0.5, 0]]),
    ("torch.max_unpool1d", "A size s of input becomes",
     "torch max-unpool1d [[0.5,0.75]] [[0,4]] --kernel-size 3 --stride 2",
     [[0.5, 0, 0, 0, 0.75]]),
    ("torch.max_unpool1d", "unless output_size",
     "torch max-unpool1d [[0.5]] [[1]] --kernel-size 2 --output-size 3", [[0, 0.5, 0]]),
    ("torch.max_unpool2d", "cells they came from",
     "torch max-unpool2d [[[0.5]]] [[[3]]] --kernel-size 2,2", [[[0, 0], [0, 0.5]]]),
    ("torch.max_unpool2d", "Sizes as in",
     "torch max-unpool2d [[[0.5]]] [[[1]]] --output-size 1,2", [[[0, 0.5]]]),
    ("torch.max_unpool3d", "cells they came from",
     "torch max-unpool3d [[[[0.5]]]] [[[[1]]]] --kernel-size 1,1,2", [[[[0, 0.5]]]]),
    ("torch.max_unpool3d", "Sizes as in",
     "torch max-unpool3d [[[[0.5]]]] [[[[1]]]] --output-size 1,1,2", [[[[0, 0.5]]]]),
    ("torch.embedding", "int32 or int64",
     f"torch embedding {of('int16', 0)} [[1.0]] --strict", "input cannot be int16"),
    ("torch.one_hot", "Write 1", "torch one-hot [1] --num-classes 3", [[0, 1, 0]]),
    ("torch.one_hot", "no gradient", "grad torch one-hot [1]", "int64 has no gradient"),
    ("torch.one_hot", "Classes are int64",
     f"torch one-hot {of('int32', 0)} --num-classes 1 --strict", "input cannot be int32"),
    ("torch.embedding_bag", "of rank 2 is a bag",
     "torch embedding-bag [[0,1],[1,1]] [[1.0],[3.0]]", [[2], [3]]),
    ("torch.embedding_bag", "0 and ascending",
     "torch embedding-bag [0,1,1] [[1.0],[3.0]] [0,2]", [[2], [3]]),
    ("torch.embedding_bag", "0 and ascending",
     "torch embedding-bag [0,1,1] [[1.0],[3.0]] [1,2]", "offsets do not fit the axis"),
    ("torch.embedding_bag", "0 and ascending",
     "torch embedding-bag [0,1,1] [[1.0],[3.0]] [0,2] --include-last-offset",
     "offsets do not fit the axis"),
    ("torch.embedding_bag", "0 and ascending",
     "torch embedding-bag [0,1,1] [[1.0],[3.0]] [0,3] --include-last-offset --mode sum", [[7]]),
    ("torch.embedding_bag", "A bag without rows",
     "torch embedding-bag [0] [[1.0]] [0,1] --mode max", [[1], [0]]),
    ("torch.embedding_bag", "Numbers are int32 or int64",
     f"torch embedding-bag {of('int16', 0)} [[1.0]] [0] --strict", "input cannot be int16"),
    ("torch.embedding_bag", "rounded once",
     f"torch embedding-bag [0,1,1] {of('float16', [2048], [1])} [0] --mode sum", [[2050]]),
    ("torch.nll_loss", "Classes are the axis 1", "torch nll-loss [[1.0,3.0]] [1]", -3),
    ("torch.nll_loss", "or its only one", "torch nll-loss [1.0,3.0] 1", -3),
    ("torch.nll_loss", "no gradient",
     "grad torch nll-loss [1.0,3.0] 1 [1.0,2.0] --of weight", "there is no gradient of 'weight'"),
    ("torch.nll_loss", "one number where there are none", "torch nll-loss [1.0,3.0] [1]", -3),
    ("torch.nll_loss", "the mean divides by",
     "torch nll-loss [[1.0,3.0],[6.0,3.0]] [1,0] [1.0,2.0]", -4),
    ("torch.nll_loss", "or ignore_index",
     "torch nll-loss [[1.0,3.0]] [7] --ignore-index 7 --reduction none", [0]),
    ("torch.nll_loss", "rounded once",
     f"torch nll-loss {of('float16', [2048], [1], [1])} [0,0,0] --reduction sum", -2050),
    ("torch.segment_reduce", "the axis replaced by the segments",
     "torch segment-reduce [1.0,3.0] --offsets [0,1,2] --reduce sum", [1, 3]),
    ("torch.segment_reduce", "unless they are unsafe",
     "torch segment-reduce [1.0,3.0] [1] --unsafe --reduce sum", [1]),
    ("torch.segment_reduce", "whose initial is added and not counted",
     "torch segment-reduce [1.0,3.0] [2] --reduce mean --initial 2", [3]),
    ("jax.lax.dynamic_slice", "its whole slice fits",
     "jax lax-dynamic-slice [1,2,3] [-1] --slice-sizes 2", [2, 3]),
    ("jax.lax.dynamic_slice", "int8 -1 on 200 cells",
     f"jax lax-dynamic-slice arange:200 {of('int8', -1)} --slice-sizes 1", [199]),
    ("jax.lax.dynamic_slice", "here it is 199",
     f"jax lax-dynamic-slice arange:200 {of('int8', -1)} --slice-sizes 1", [199]),
    ("jax.at.set", "values stretch", "jax at-set [1,2] [0,1] 5", [5, 5]),
    ("jax.lax.gather", "cut to 32 bits",
     ("jax lax-gather [10,20] [[4294967297]] --offset-dims '' --collapsed-slice-dims 0 "
     "--start-index-map 0 --slice-sizes 1 --mode fill"), [20]),
    ("jax.take", "NaN", "jax take [1.0,2.0] [-2,5]", [1, "nan"]),
    ("jax.take", "the highest unsigned", f"jax take {of('uint8', 1, 2)} [-2,5]", [1, 255]),
    ("jax.take", "the lowest signed", f"jax take {of('int8', 1, 2)} [-2,5]", [1, -128]),
    ("jax.take", "True", "jax take [false] [5]", [True]),
    ("jax.take", "bool indices", "jax take [10,20] [true]", [20]),
    ("jax.take", "bool indices", "jax take [10,20] [true] --mode clip",
     "indices must be integers, got bool"),
    ("jax.take", "int8 -1 on 300", f"jax take arange:300 {of('int8', -1)}", [299]),
    ("jax.take", "here it is 299", f"jax take arange:300 {of('int8', -1)}", [299]),
    ("jax.take_along_axis", "is 1 and stretches",
     "jax take-along-axis [[1,2],[3,4]] [[1]] --axis 1", [[2], [4]]),
    ("jax.take_along_axis", "arr is flat", "jax take-along-axis [[1,2],[3,4]] [3] --axis none",
     [4]),
    ("jax.take_along_axis", "cut to 32 bits", "jax take-along-axis [10,20] [4294967297]", [20]),
    ("stablehlo.gather", "clamp(v, 0, size - slice_sizes[d])",
     ("stablehlo gather [1,2,3] [[7]] --offset-dims 1 --start-index-map 0 --slice-sizes 2 "
     "--index-vector-dim 1"), [[2, 3]]),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "words", "line", "answer"), HELD)
def test_what_help_tells_is_what_happens(
    operator: str, words: str, line: str, answer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in re.sub(r"\s+", " ", find_operator(operator).doc)
    status = run_safely([*shlex.split(line), "--json=output"])
    printed = capsys.readouterr()
    if isinstance(answer, str):
        assert status in (ExitCode.USAGE, ExitCode.INVALID_DATA)
        assert answer in json.loads(printed.err.splitlines()[-1])["error"]["problem"]
        return
    assert status == 0, printed.err
    document = json.loads(printed.out)
    assert np.array(document["data"], object).reshape(document["shape"]).tolist() == answer


def _is_held(operator: Operator, sentence: str) -> bool:
    known = any(name == operator.full_name and words in sentence for name, words, *_ in HELD)
    return known or any(one.search(sentence) for one in (LEGAL, EMPTY, SHAPES)) or (
        "stays" in sentence and "NaN" in sentence
    )  # fmt: skip


def test_a_text_names_the_operators_that_it_is_held_against() -> None:
    """It is read alone: which operators stand beside it in a module is not seen there."""
    vague = re.compile("these operators|operators here")
    assert not [o.full_name for o in operators() if vague.search(re.sub(r"\s+", " ", o.doc))]


def test_no_sentence_stands_alone() -> None:
    alone = [(o.full_name, s) for o in operators() for s in sentences(o) if not _is_held(o, s)]
    assert not alone, f"add to HELD a command that shows it, for each of: {alone}"


def test_the_usual_tolerances_are_told() -> None:
    told = " ".join(shell.call_gscli("help", "porting").stdout.decode().split())
    for name in ("float64", "float32", "float16", "bfloat16"):
        assert f"{name} {DEFAULT_RTOL[name]!r}" in told.replace("1e-6", "1e-06")
    assert Tolerance().atol == 0
