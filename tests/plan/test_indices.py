"""The judging of indices where the plan never asks: nothing to judge is never refused."""

from __future__ import annotations

import numpy as np

from gscli.layout.axes import Axis, Policy
from gscli.plan.indices import describe_out_of_range


def test_nothing_is_never_outside() -> None:
    assert describe_out_of_range(np.zeros(0, np.int64), Axis(0, column=0), Policy()) is None
