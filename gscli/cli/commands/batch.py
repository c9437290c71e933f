"""`gscli batch FILE.jsonl`.

Run one job per line in one process and write one result per line.

A line is {"op": "scatter_nd", "inputs": {…}, "attrs": {…}, "id": …}. Inputs are nested lists,
{"dtype", "shape", "data"}, or a string: a file or whatever a command takes. Standard input is read
once: it holds the jobs, or is "-" in one of them. An operator of a framework is called
"torch.scatter_add" or "torch scatter-add", or as recorded cases have it: "framework", "op",
"opset"; where it takes an index per axis, they are called indices_0, indices_1, … A result has the
id (or the number of the line; where a refusal has the id null, line is that) and either output or
error, and warnings where there are any. "output" is a file to write to, as -o has it, with at most
1 GiB; the result then names it. An output in a result has at most 5,000,000 values. "expect" is
what the output should be, given as an input is, with "rtol" and "atol"; expectation says what
differs and what would give it, of larger outputs, too, which stand without data. A refused line
does not stop the rest; exit status 1 when there was one, or when an output is not as expected.

--serve answers the requests that --on R puts to a runtime, by the rules: a peer to try one's
own program against. gscli help runtimes describes both sides.

\b
Example:
  echo '{"op": "gather", "inputs": {"data": [10, 20], "indices": [1]}}' | gscli batch -
"""

from __future__ import annotations

from functools import partial

from gscli.cli.building import complete_file, tool
from gscli.cli.options import argument, option, print_json


@tool("batch")
def batch(
    file: str = argument(
        "[FILE.jsonl]", "jobs; standard input when none is named", complete_file, "-"
    ),
    quiet: bool = option("only what was refused or differs", short="-q"),
    serve: bool = option(
        "be a runtime: answer the requests of --on",
        excludes=("quiet",), why="--serve answers every request",
    ),
) -> int:  # fmt: skip
    from gscli.lab.cases import read_lines

    if serve:
        from gscli.runtimes import peer

        peer.serve(read_lines(file), partial(print_json, flush=True))
        return 0
    from gscli.lab.jobs import run_job
    from gscli.views.progress_bar import ProgressBar

    failed = False
    stdin_readers: list[object] = [file]
    with ProgressBar("jobs", None, quiet=quiet) as progress:
        for number, line in enumerate(read_lines(file), 1):
            if not line.strip():
                continue
            result = run_job(line, number, stdin_readers)
            wrong = "error" in result or not result.get("expectation", {"equal": True})["equal"]
            failed = failed or wrong
            if wrong or not quiet:
                print_json(result, flush=file == "-")  # whoever writes the jobs may wait for it
            progress.advance()
    return int(failed)
