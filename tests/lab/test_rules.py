"""Rules are computed; here stand the semantics tables' own words for a sample of them."""

from __future__ import annotations

import numpy as np
import pytest
import shell

import gscli
from gscli.frameworks import find_operator
from gscli.lab.article_tables import format_article_table
from gscli.lab.examples import build_probe
from gscli.lab.rules import EXTREME, Rule, compute_rules, rules_to_dicts
from gscli.traces import trace_call


def rule(name: str, variant: str = "") -> Rule:
    return next(
        found
        for found in compute_rules([find_operator(name)])
        if not variant or variant in found.variants
    )


@pytest.mark.parametrize(
    ("name", "variant", "negative", "beyond", "duplicates", "untouched", "axis"),
    [
        ("onnx.gather", "", "from the end", "error", "allowed", "–", "0"),
        ("onnx.scatter_nd", "", "from the end", "error", "last kept, order open", "data", "–"),
        ("onnx.scatter", "", "from the end", "error", "last kept, order open", "data", "0"),
        ("numpy.take", "mode=raise", "from the end", "error", "allowed", "–", "flattened"),
        ("numpy.take", "mode=wrap", "modulo", "modulo", "allowed", "–", "flattened"),
        ("numpy.take", "mode=clip", "clipped to 0", "clipped to the last", "allowed", "–",
         "flattened"),
        ("numpy.compress", "", "–", "error", "–", "–", "flattened"),
        ("torch.masked_select", "", "–", "–", "–", "–", "–"),
        ("torch.nll_loss", "reduction=sum", "error; -100 is ignored", "error", "–", "–", "–"),
        ("mxnet.pick", "mode=wrap", "modulo", "modulo", "–", "–", "last"),
        ("jax.lax.dynamic_slice", "default", "from the end", "clipped to the last", "–", "–", "–"),
        ("tensorflow.gather", "device=cpu", "error", "error", "allowed", "–", "0"),
        ("tensorflow.gather", "device=gpu", "reads 0", "reads 0", "allowed", "–", "0"),
        ("tensorflow.scatter_nd", "device=gpu", "dropped", "dropped", "summed", "0", "–"),
        ("tensorflow.unsorted_segment_sum", "device=cpu", "dropped", "error", "summed", "0", "–"),
        ("tensorflow.segment_sum", "", "error", "grows the output; error out of order",
         "summed", "0.0", "–"),
        ("tensorflow.unsorted_segment_max", "device=cpu", "dropped", "error", "largest kept",
         "the smallest finite value of the type", "–"),
        ("openvino.scatter_update", "", *["error (itself: may write outside data)"] * 2,
         "last kept, order open", "data", "must be given"),
        ("mxnet.take", "mode=clip", "clipped to 0", "clipped to the last", "allowed", "–", "0"),
        ("mxnet.take", "mode=raise", "error", "error", "allowed", "–", "0"),
        ("mxnet.gather_nd", "release=1.6", "error (itself: unchecked)", "error (itself: unchecked)",
         "allowed", "–", "–"),
        ("caffe2.gather", "", "from the end", "error", "allowed", "–", "0"),
        ("caffe2.scatter", "", "error", "error", "last kept, order open", "data", "1"),
        ("torch.gather", "", "error", "error", "allowed", "–", "must be given"),
        ("torch.index_select", "", "error", "error", "allowed", "–", "must be given"),
        ("jax.take", "mode=clip", "clipped to 0", "clipped to the last", "allowed", "–",
         "flattened"),
        ("jax.at.add", "default", "from the end", "dropped", "summed", "data", "–"),
        ("stablehlo.gather", "", "clipped to 0", "clipped to the last", "allowed", "–", "–"),
    ],
)  # fmt: skip
def test_what_the_tables_say(
    name: str,
    variant: str,
    negative: str,
    beyond: str,
    duplicates: str,
    untouched: str,
    axis: str,
) -> None:
    assert rule(name, variant).behaviours == (negative, beyond, duplicates, untouched, axis)


def test_every_operator_and_version_has_a_rule() -> None:
    found = compute_rules(gscli.operators())
    for operator in gscli.operators():
        own = [one for one in found if one.operator is operator]
        assert own, operator.full_name
        versions = {version for one in own for version in one.versions}
        assert versions == set(operator.versions), operator.full_name


def test_versions_that_differ_stand_apart() -> None:
    assert [one.versions for one in compute_rules([find_operator("openvino.gather")])] == [
        (1, 7),
        (8,),
    ]


def test_every_example_runs_under_its_own_defaults() -> None:
    for operator in gscli.operators():
        probe = build_probe(operator, {})
        assert probe is not None, operator.full_name
        assert trace_call(operator, probe.inputs, probe.attrs).layout == probe.layout


def test_documents() -> None:
    found = compute_rules([find_operator("onnx.gather")])
    assert rules_to_dicts(found)[0]["versions"] == [1, 11, 13]
    row = "| `onnx.gather 1 11 13` | from the end | error |"
    assert row.encode() in shell.gscli("rules", "onnx", "gather", "--markdown").stdout


def test_the_articles_tables() -> None:
    one, two = format_article_table(1), format_article_table(2)
    assert "| Coordinates of a vector run along | the last axis | the last axis | the first" in one
    assert "1.9: from the end; 1.6: error (itself: unchecked)" in one
    assert "| Axis not given | 0 | 0 | 0 | flattened | 0 | flattened |" in two
    assert "cpu: error; gpu: reads 0; xla: clipped to 0" in two


# Operators without an index to write otherwise, whose every mask of the right shape is legal.
NO_INDEX = {"torch.masked_select", "torch.masked_scatter", "torch.segment_reduce"}


def test_only_where_no_index_can_be_refused_its_rule_says_nothing() -> None:
    """A new operator that has `–` and yet refuses needs words of its own in `gscli rules`."""
    silent = {
        one.operator.full_name
        for one in compute_rules(gscli.operators())
        if one.out_of_range == "–"
    }
    new = sorted(silent - NO_INDEX)
    assert not new, f"what {new} do with a bad index is not in lab/rules.py, or they go in NO_INDEX"
    assert silent == NO_INDEX


@pytest.mark.parametrize(
    ("dtype", "fill"),
    [("uint8", 255), ("uint32", 2**32 - 1), ("int8", -128), ("bool", True), ("float32", np.nan)],
)
def test_what_jax_reads_outside_is_what_its_rule_says(dtype: str, fill: float) -> None:
    """JAX 0.10's own answers."""
    inputs = {"a": np.ones(3, dtype), "indices": [7]}
    (cell,) = gscli.run("jax.take", inputs, {"mode": "fill"})
    assert np.array_equal(cell, np.asarray(fill).astype(dtype), equal_nan=dtype == "float32")
    assert rule("jax.take", "mode=fill").out_of_range == f"reads {EXTREME}"
