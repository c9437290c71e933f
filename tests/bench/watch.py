"""What `gscli.watch()` costs: CPU time of a step with it, beside the same step alone.

PYTHON tests/bench/watch.py, with a Python that has torch. Goals: a transformer step and steps of a
graph network at most 1.3 times, index_put of 8,000 values at most 2.5.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

import gscli

ROUNDS = 20


def make_transformer() -> Callable[[], object]:
    table, head = torch.nn.Embedding(2000, 128), torch.nn.Linear(128, 2000)
    layer = partial(torch.nn.TransformerEncoderLayer, 128, 4, 512, batch_first=True, dropout=0.0)
    model = torch.nn.Sequential(table, layer(), layer(), head)
    optimizer = torch.optim.AdamW(model.parameters())
    ids = torch.randint(0, 2000, (8, 64))

    def step() -> None:
        loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def make_graph(reduce: str) -> Callable[[], object]:
    count, edges, width = 10_000, 60_000, 16
    source, target = torch.randint(0, count, (2, edges))
    features, linear = torch.randn(count, width), torch.nn.Linear(width, width)
    spread = target[:, None].expand(edges, width)

    def step() -> None:
        x = features
        for _ in range(3):
            out, messages = torch.zeros(count, width), linear(x).index_select(0, source)
            x = (
                out.index_add(0, target, messages) if reduce == "sum"
                else out.scatter_reduce(0, spread, messages, reduce, include_self=False)
            )  # fmt: skip
        x.sum().backward()

    return step


def make_writes() -> Callable[[], object]:
    grid, where, what = torch.zeros(20_000), torch.randperm(20_000)[:8000], torch.randn(8000)

    def step() -> None:
        for _ in range(200):
            grid[where] = what

    return step


def measure(step: Callable[[], object], make_watch: Callable[[], Any]) -> float:
    with make_watch():
        start = time.process_time()
        step()
        return time.process_time() - start


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    steps = {
        "transformer step": (make_transformer(), 1.3),
        "graph, index_add": (make_graph("sum"), 1.3),
        "graph, scatter_reduce": (make_graph("amax"), 1.3),
        "200 index_put of 8,000": (make_writes(), 2.5),
    }
    for name, (step, goal) in steps.items():
        step()
        alone = min(measure(step, nullcontext) for _ in range(ROUNDS))
        seen = min(measure(step, gscli.watch) for _ in range(ROUNDS))
        print(f"{name:24} {alone * 1e3:8.2f} ms, watched {seen / alone:.2f} times (goal {goal})")


if __name__ == "__main__":
    main()
