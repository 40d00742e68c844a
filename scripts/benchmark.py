"""Shared by the benchmark scripts: time whole processes, name the machine, write docs/reference/benchmarks.md."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference" / "benchmarks.md"
RESULTS = PAGE.with_suffix(".json")


class Run(NamedTuple):
    """One finished process: wall and CPU seconds, peak resident MiB of its largest process, its output."""

    wall: float
    cpu: float
    peak: float
    output: str


def environment() -> dict[str, str]:
    """Return the environment of a process to be timed, which reads bytecode like that of an installed package.

    PYTHONDONTWRITEBYTECODE, often set in containers, would make each process compile all its modules again.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run(command: Sequence[str]) -> Run:
    """Run a command to its end, bytecode written; raises CalledProcessError if it fails."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output)


def median_run(command: Sequence[str], runs: int, warmups: int = 1) -> Run:
    """Medians over several runs after warm-ups, with the last run's output."""
    for _ in range(warmups):
        run(command)
    done = [run(command) for _ in range(runs)]
    medians = [statistics.median(getattr(one, field) for one in done) for field in ("wall", "cpu", "peak")]
    return Run(medians[0], medians[1], medians[2], done[-1].output)


def machine() -> str:
    """The processor, its cores, the memory and the versions that matter, in one line."""
    model = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor() or platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"


def publish(name: str, table: str, results: Any, how: str = "Medians") -> None:
    """Put a table between the page's markers of this name, and the results into the JSON file."""
    everything = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    everything[name] = {"machine": machine(), "results": results}
    RESULTS.write_text(json.dumps(everything, indent=1, sort_keys=True) + "\n")
    put(PAGE, {name: f"{table}\n\n{how} on: {machine()}."})


def results(name: str) -> list[dict[str, Any]]:
    """The results published under a name on this machine, or one like it; nothing of another."""
    known = json.loads(RESULTS.read_text("utf-8")).get(name, {}) if RESULTS.exists() else {}
    found: list[dict[str, Any]] = known["results"] if known.get("machine") == machine() else []
    return found


def put(document: Path, texts: Mapping[str, str]) -> None:
    """Put texts between a document's markers of their names."""
    whole = document.read_text("utf-8")
    for name, text in texts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = whole.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise SystemExit(f"{document.name} has no markers {begin} and {end}: put them where the table goes")
        whole = f"{before}{begin}\n{text}\n{end}{after}"
    document.write_text(whole, encoding="utf-8")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, its first column left, the others right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8").splitlines()
    except OSError:
        return []
