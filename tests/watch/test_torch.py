"""PyTorch programs under watch. They need torch: the everyday run skips them."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: tests/watch/run.py runs it")

import torch.nn.functional as F  # noqa: E402, N812

import gscli  # noqa: E402
from gscli.watch.aten import COMPOSITES, RULES, find_rule  # noqa: E402
from gscli.watch.findings import WatchedIndex  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))

from screens import list_commands, read_sessions, replay, try_command  # noqa: E402

torch.set_num_threads(1)  # a program is run in a fork, where threads of a pool are gone

ROOT = str(Path(__file__).parents[2])

SESSIONS = read_sessions("torch")

# What PyTorch 2.4 does otherwise: it compiles in spite of the watcher, and refuses the modulo.
OTHERWISE_BEFORE = {
    "compiled": "not watched: 2 functions that run compiled\n0\n",
    "along a dim, modulo": "error: index out of range\n  --> program.py:4",
}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_program_prints_what_is_recorded(name: str, tmp_path: Path) -> None:
    """A screen that is right now is written anew by `python tests/watch/screens.py torch`."""
    screen = replay(SESSIONS[name], tmp_path)
    if torch.__version__ < "2.5" and name in OTHERWISE_BEFORE:
        assert OTHERWISE_BEFORE[name] in screen
    else:
        assert screen == SESSIONS[name].screen


WORKER = (
    "from torch.utils.data import DataLoader\ntable = torch.arange(20.)\n"
    "class Rows:\n"
    "    def __len__(self): return 6\n"
    "    def __getitem__(self, i): return table.take(torch.tensor([4 * i]))\n"
    "for batch in DataLoader(Rows(), num_workers=1, multiprocessing_context='fork'): pass"
)


def run_watched(
    folder: Path, program: str, *words: str, name: str = "program.py"
) -> subprocess.CompletedProcess[str]:
    (folder / name).write_text(program if name == "train.py" else f"import torch\n{program}\n")
    return subprocess.run(
        [sys.executable, "-m", "gscli", "watch", *words, name],
        cwd=folder, env={"PYTHONPATH": ROOT, "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_the_error_of_a_worker_is_named_soon(tmp_path: Path) -> None:
    start = time.monotonic()
    run = run_watched(tmp_path, WORKER)
    assert run.returncode == 65, run.stderr
    assert "  --> program.py:6 in __getitem__\n" in run.stderr
    assert "= 20\n" in run.stderr
    assert "Traceback" not in run.stderr
    assert "thread" not in run.stderr  # of its queue
    assert time.monotonic() - start < 60  # 20 s on a machine that does nothing else


WORKERS = """
from torch.utils.data import DataLoader
class Rows:
    def __len__(self): return 40
    def __getitem__(self, at): return torch.arange(50.0)[torch.tensor([at, -1 - at])]
for batch in DataLoader(Rows(), num_workers=2, multiprocessing_context='fork'): pass"""


def test_what_workers_find_counts_and_they_may_save_the_same_call(tmp_path: Path) -> None:
    run = run_watched(tmp_path, WORKERS, "--strict", "--save", "case.npz")
    assert run.returncode == 1, run.stderr
    assert "counts from the end: least -1\n" in run.stderr
    assert run.stderr.endswith("watched 0 calls, 0 indices; not counted: 2 forked processes\n")
    assert (tmp_path / "case-from-end.npz").exists()
    assert "Traceback" not in run.stderr
    assert run_watched(tmp_path, WORKERS.replace(", -1 - at", ""), "--strict").returncode == 0


def test_an_index_that_reads_and_writes_is_told_once(tmp_path: Path) -> None:
    program = "x, up = torch.zeros(5), torch.tensor([1, 1, -1])\nx[up] += 1\nx[up] += 1"
    run = run_watched(tmp_path, program)
    assert run.stderr.count("up counts from the end: least -1\n") == 2  # one of each line
    assert run.stderr.count("2 times") == 2


STARTER = """
import multiprocessing, sys
def work(at):
    print(torch.arange(3.0).take(torch.tensor([at])).item(), flush=True)
    sys.exit(5)
if __name__ == "__main__":
    child = multiprocessing.get_context("METHOD").Process(target=work, args=(2,))
    child.start()
    child.join()
    print("ended with", child.exitcode)
    sys.exit(3)
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_process_of_its_own_is_told_and_behaves(method: str, tmp_path: Path) -> None:
    run = run_watched(tmp_path, STARTER.replace("METHOD", method))
    assert (run.returncode, run.stdout) == (3, "2.0\nended with 5\n")
    is_watched = method == "fork"
    assert ("not watched: 1 process of its own" in run.stderr) != is_watched
    bad = run_watched(tmp_path, STARTER.replace("METHOD", method).replace("(2,)", "(3,)"))
    assert ("= 3\n" in bad.stderr) == is_watched
    assert bad.returncode == 3


def test_ctrl_c_in_a_watched_call_ends_the_program_as_alone(tmp_path: Path) -> None:
    program = "import os, signal\nx = torch.zeros(3)[torch.tensor([1])]\nos.kill(os.getpid(), 2)"
    run = run_watched(tmp_path, program)
    assert run.returncode == -signal.SIGINT
    assert run.stderr.startswith("watched 1 call, 1 index: 1 index\nTraceback")
    assert run.stderr.endswith("KeyboardInterrupt\n")


@pytest.mark.parametrize(
    ("program", "status", "words"),
    [
        ("import sys; sys.exit(4)", 4, ""),
        ("raise ValueError('its own')", 1, "ValueError: its own\n"),
        ("torch.zeros(2)[0, 0]", 1, "IndexError: too many indices"),
    ],
)
def test_a_program_ends_as_it_does_alone(
    program: str, status: int, words: str, tmp_path: Path
) -> None:
    run = run_watched(tmp_path, f"torch.zeros(3)[torch.tensor([1])]\n{program}")
    assert run.returncode == status
    assert words in run.stderr
    assert run.stderr.endswith("watched 1 call, 1 index: 1 index\n")


def test_the_lesson_shows_what_is_seen(tmp_path: Path) -> None:
    lesson = Path(ROOT, "samples", "51-epoch-three")
    program = (lesson / "train.py").read_text()
    run = run_watched(tmp_path, program, "--save", "case.npz", name="train.py")
    text = (lesson / "README.md").read_text()
    shown = text.splitlines()
    seen = [line for line in (run.stdout + run.stderr).splitlines() if line]
    assert [line for line in seen if line not in shown] == []
    assert (tmp_path / "case.npz").exists()


def clean_attention() -> torch.Tensor:
    torch.manual_seed(0)
    table = torch.nn.Embedding(50, 16)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0)
    ids = torch.arange(24).reshape(2, 12)
    loss = F.cross_entropy(layer(table(ids)).flatten(0, 1), ids.flatten() % 16)
    loss.backward()
    return torch.cat([loss.reshape(1), table.weight.grad.reshape(-1)])


def clean_graph() -> torch.Tensor:
    torch.manual_seed(0)
    source, target = torch.randint(0, 20, (2, 60))
    x = torch.randn(20, 4, requires_grad=True)
    sums = torch.zeros(20, 4).index_add(0, target, x.index_select(0, source))
    most = torch.zeros(20, 4).scatter_reduce(
        0, target[:, None].expand(60, 4), x[source], "amax", include_self=False
    )
    (sums + most).sum().backward()
    return x.grad


def clean_writes() -> torch.Tensor:
    x = torch.zeros(10)
    x[torch.randperm(10)] = torch.arange(10.0)
    x[torch.tensor([1, 1])] = torch.tensor([5.0, 5.0])
    x[torch.tensor([2, 2])] = 7.0
    x[torch.tensor([3, 3])] = torch.tensor([float("nan")] * 2)
    return x.sort().values.nan_to_num()


def clean_masks() -> torch.Tensor:
    x = torch.arange(12.0).reshape(3, 4)
    x[x > 5] = 1.0
    x[:, torch.tensor([True, False, True, False])] += 1
    return torch.cat([x.reshape(-1), x[torch.tensor([-1])].reshape(-1), x.masked_select(x > 1)])


def clean_detection() -> torch.Tensor:
    torch.manual_seed(0)
    boxes, scores = torch.rand(20, 4), torch.rand(20)
    order, keep = scores.argsort(descending=True), []
    while order.numel():
        keep.append(order[0])
        near = (boxes[order[1:]] - boxes[order[0]]).abs().sum(1) < 0.5
        order = order[1:][~near]
    return boxes[torch.stack(keep)]


def clean_transforms() -> torch.Tensor:
    x = torch.arange(12.0).reshape(3, 4)
    rows = torch.vmap(lambda row, at: row[at])(x, torch.tensor([[0], [1], [3]]))
    grad = torch.func.grad(lambda a: a[torch.tensor([0, 2])].sum())(x)
    hot = F.one_hot(torch.tensor([0, 2]), 3).float()
    with torch.inference_mode():
        picked = x.gather(1, torch.tensor([[1], [0], [2]]))
    half = x.bfloat16()
    half[torch.tensor([0, 1])] = torch.tensor(2.0, dtype=torch.bfloat16)
    return torch.cat([part.reshape(-1).float() for part in (rows, grad, hot, picked, half)])


@pytest.mark.parametrize(
    "run",
    [clean_attention, clean_graph, clean_writes, clean_masks, clean_detection, clean_transforms],
)
def test_a_clean_program_gives_no_alarm_and_the_same_bits(run) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    torch.manual_seed(1)
    alone = run()
    with gscli.watch() as seen:
        torch.manual_seed(1)
        watched = run()
    assert not seen.findings, seen.report()
    assert sum(seen.calls.values())
    assert torch.equal(alone, watched)


def test_a_noted_index_leaves_the_answer_to_pytorch() -> None:
    with gscli.watch(on_error="note") as seen, pytest.raises(RuntimeError):
        torch.zeros(3).gather(0, torch.tensor([3]))
    assert [finding.kind for finding in seen.findings] == ["index"]
    assert "index out of range" in repr(seen.findings), seen
    assert repr(seen).startswith("<TorchWatch: watched 1 call, ")


def test_a_warning_of_pytorch_names_the_line_of_the_program() -> None:
    with warnings.catch_warnings(record=True, action="always") as seen, gscli.watch() as own, own:
        torch.range(0, 1)
    assert [warning.filename for warning in seen] == [__file__]


def test_a_bad_index_is_an_index_error() -> None:
    with gscli.watch(), pytest.raises(IndexError, match="axis 0 of input"):
        torch.zeros(3).gather(0, torch.tensor([3]))
    assert torch.zeros(3).gather(0, torch.tensor([2])) == 0  # watched no more


def test_every_nth_call_of_a_line_is_judged() -> None:
    with gscli.watch(every=2) as seen:
        for at in (0, 9, 1):
            torch.zeros(3).gather(0, torch.tensor([at])) if at < 3 else None
            torch.tensor([5]).take(torch.tensor([0]))
    assert seen.calls == {"gather": 1, "take": 2}


def test_the_first_bad_call_is_saved_as_a_case(tmp_path: Path) -> None:
    path = str(tmp_path / "case.npz")
    with gscli.watch(save=path), pytest.raises(WatchedIndex) as caught:
        torch.arange(6.0).reshape(2, 3).index_add(1, torch.tensor([0, 7]), torch.ones(2, 2))
    assert caught.value.hint.startswith("gscli check torch index-add")
    assert gscli.load(f"{path}::index").tolist() == [0, 7]
    assert gscli.load(f"{path}::input").shape == (2, 3)


def test_a_write_in_place_is_saved_as_it_was_before(tmp_path: Path) -> None:
    data, index, values = torch.zeros(3), torch.tensor([0, 0, 2]), torch.tensor([5.0, 6.0, 7.0])
    writes: dict[str, Callable[[], object]] = {
        "self": lambda: data.__setitem__(index, values),
        "input": lambda: data.scatter_(0, index, values),
    }
    for name, write in writes.items():
        data.zero_()
        with gscli.watch(save=str(tmp_path / "case.npz")) as seen:
            write()
        (finding,) = seen.findings
        assert f"::{name} " in finding.error.hint
        assert gscli.load(f"{tmp_path}/case-lost.npz::{name}").tolist() == [0, 0, 0]
        assert data.tolist() == [6, 0, 7]


def test_each_call_of_a_line_is_counted_by_itself() -> None:
    index, values = torch.tensor([0, 0, 2]), torch.tensor([5.0, 6.0, 7.0])
    with gscli.watch() as seen:
        torch.zeros(3).scatter(0, index, values) + torch.zeros(3).index_copy(0, index, values)
        torch.zeros(3).scatter(0, index, values) + torch.zeros(3).scatter(0, index, values)
    assert [finding.count for finding in seen.findings] == [1, 1, 1, 1]


def test_threads_of_the_program_are_told_as_not_watched() -> None:
    import threading

    with gscli.watch() as seen:
        thread = threading.Thread(target=lambda: torch.zeros(3)[torch.tensor([0])])
        thread.start()
        thread.join()
    assert "not watched: 1 other thread" in seen.last_line()


# Why a function with an index argument is not in the table: the first pattern that fits.
UNMAPPED: dict[str, str] = {
    r".*_backward.*|.*_jvp|.*_grad": "its forward call has judged the index",
    r".*sparse.*|coalesce|.*coo.*|.*cs[rc].*|.*bs[rc].*|.*nested.*|.*jagged.*|_pack.*|_spdiags": (
        "its numbers are a format, not positions"
    ),
    r"_?(fbgemm|quantized|cudnn|miopen|mkldnn|mps|_?fused|_?efficient).*": "kernels of one device",
    r".*loss.*|.*cross_entropy.*|.*margin.*|kl_div": "its target is values, or nll_loss is called",
    r".*max_pool.*|.*fractional.*": "its indices come from a pooling",
    r"masked_(fill|select|softmax).*|.*_mask.*|where": "a mask has no bad numbers",
    r"_?cumm(ax|in)(_helper)?|kthvalue|.*median|min|mode|sort|topk": "its indices are an output",
    r"embedding_bag": "it calls a function that is judged",
    r"_set_item": "of a list of Python",
}


def test_every_function_with_an_index_is_mapped_or_listed() -> None:
    """Torch's own schemas: a new function with an index argument stands in neither table."""
    import re

    names = {
        schema.name.partition("::")[2]
        for schema in torch._C._jit_get_all_schemas()
        if schema.name.startswith("aten::")
        and any(
            "Tensor" in str(entry.type)
            and re.fullmatch(r"index|indices|target|idx|.*indices|offsets", entry.name)
            for entry in schema.arguments
        )
    }
    mapped = {name for name in names if find_rule(name)} | names & COMPOSITES.keys()
    assert len(mapped) >= 30
    assert {name for name in RULES if name not in names} <= {"_unsafe_index_put", "masked_scatter"}
    reasons = {name: [p for p in UNMAPPED if re.fullmatch(p, name)] for name in names - mapped}
    assert not sorted(name for name, patterns in reasons.items() if not patterns)
    assert {patterns[0] for patterns in reasons.values()} <= UNMAPPED.keys()


def draw(generator: torch.Generator, low: int, high: int, *shape: int) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=generator)


def random_calls(generator: torch.Generator):  # type: ignore[no-untyped-def]  # noqa: ANN201
    """Calls of every function of the table, a third of them with bad indices."""
    rows, columns, count = (int(number) for number in draw(generator, 1, 5, 3))
    dim, wild = int(draw(generator, 0, 2, 1)), int(draw(generator, 0, 3, 1))
    x = torch.randn(rows, columns, generator=generator)
    size = x.shape[dim]

    def numbers(extent: int, *shape: int) -> torch.Tensor:
        low, high = ((0, extent), (-extent, extent), (-extent - 1, extent + 2))[wild]
        return draw(generator, low, high, *shape)

    small = [int(draw(generator, 1, extent + 1, 1)) for extent in x.shape]
    small[dim] = count
    cells, line = numbers(size, *small), numbers(size, count)
    values = torch.randn(small, generator=generator)
    slices = torch.randn([count if axis == dim else x.shape[axis] for axis in (0, 1)])
    flat, first, second = (
        numbers(rows * columns, count),
        numbers(rows, count),
        numbers(columns, count),
    )
    spread = numbers(size, *[count if axis == dim else x.shape[axis] for axis in (0, 1)])
    line_positions = numbers(2 * columns, rows, columns)
    plane_positions = numbers(4 * x.numel(), 1, *x.shape)
    return {
        "gather": lambda: x.gather(dim, cells),
        "scatter": lambda: x.scatter(dim, cells, values),
        "scatter value": lambda: x.scatter(dim, cells, 2.0),
        "scatter_add": lambda: x.scatter_add(dim, cells, values),
        "scatter_reduce": lambda: x.scatter_reduce(dim, cells, values, "amax"),
        "index_select": lambda: x.index_select(dim, line),
        "index_add": lambda: x.index_add(dim, line, slices),
        "index_copy": lambda: x.index_copy(dim, line, slices),
        "index_fill": lambda: x.index_fill(dim, line, 1.0),
        "index_reduce": lambda: x.index_reduce(dim, line, slices, "amin"),
        "x[i]": lambda: x[first],
        "x[i, j]": lambda: x[first, second],
        "x[:, j]": lambda: x[:, second],
        "index_put": lambda: x.index_put((first,), torch.tensor(1.0)),
        "index_put +": lambda: x.index_put((first, second), torch.ones(count), accumulate=True),
        "take": lambda: x.take(flat),
        "put_": lambda: x.clone().put_(flat, torch.ones(count)),
        "embedding": lambda: F.embedding(first, x),
        "embedding_bag": lambda: F.embedding_bag(first[None], x),
        "nll_loss": lambda: F.nll_loss(x[:1].expand(count, columns), second),
        "nll_loss2d": lambda: F.nll_loss(
            x.expand(count, rows, columns).mT[..., :1], second[:, None]
        ),
        "one_hot": lambda: F.one_hot(first, rows),
        "one_hot without classes": lambda: F.one_hot(input=first),
        "segment_reduce": lambda: torch.segment_reduce(torch.ones(columns), "sum", lengths=second),
        "max_unpool1d": lambda: F.max_unpool1d(x, line_positions, 2),
        "max_unpool2d": lambda: F.max_unpool2d(x[None], plane_positions, 2),
        "masked_scatter": lambda: x.masked_scatter(x > 0, line.float()),
        "take_along_dim": lambda: torch.take_along_dim(x, spread, dim),
    }


@pytest.mark.filterwarnings("ignore")
def test_watch_refuses_what_pytorch_refuses_and_nothing_else() -> None:
    generator = torch.Generator().manual_seed(7)
    wrong, count = [], 0
    for _ in range(240):
        for name, call in random_calls(generator).items():
            count += 1
            is_refused, is_named = False, False
            try:
                call()
            except (RuntimeError, IndexError):
                is_refused = True
            try:
                with gscli.watch(read_back=False):
                    call()
            except WatchedIndex:
                is_named = True
            except (RuntimeError, IndexError):
                pass
            if is_refused != is_named:
                wrong.append((name, is_refused))
    assert count >= 5000
    assert not wrong


@pytest.mark.parametrize("name", SESSIONS)
def test_a_hint_is_a_command_that_works(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A saved call is taken as it is by check, pictures, steps, code and expectations."""
    session = SESSIONS[name]._replace(words=f"--save case.npz {SESSIONS[name].words}")
    screen = replay(session, tmp_path)
    monkeypatch.chdir(tmp_path)
    for words in list_commands(screen):
        try_command(words)
