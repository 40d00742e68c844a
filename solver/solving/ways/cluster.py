"""By a cluster of Ray, in the files of a store that all its nodes reach."""

from __future__ import annotations

from solver.base import extras
from solver.solving.job import Job, Outcome
from solver.solving.ways import plain

name = "a cluster (--cluster)"
heeds = {"cluster", "store", "memory", "workers", "restart", "checkpoint"}


def refuses(job: Job) -> str | None:
    """What the method cannot take, and a cluster that is not there, or has no place to keep what is done."""
    reason = plain.refuses(job) or job.rules.kind.refusal("cluster", job.rules.name)
    if reason is None and not extras.has_cluster():
        return f"--cluster: {extras.cluster_remedy()}"
    if reason is None and job.options.store is None and not _is_local(job):
        return "a cluster keeps what is done where all its nodes reach it: name a folder or URL, --store"
    return reason


def solve(job: Job) -> Outcome:
    """Solve a game whole."""
    from solver.cluster import on_ray, solving

    rules, options, folder = job.rules, job.options, job.beside(".shards")
    assert options.cluster is not None and folder is not None
    url = str(folder.absolute()) if options.store is None else solving.url_of(rules, options.store)
    states = job.checked()
    engine = job.files.enter_context(on_ray.connect(options.cluster, options.memory))
    clustered = solving.Clustered(rules, url, engine, options)
    job.files.callback(clustered.close)
    solved = clustered.solve(states)
    return Outcome(solved, solved.method, "complete", clustered.remove, clustered.mend)


def _is_local(job: Job) -> bool:
    return (job.options.cluster or "").partition(":")[0] == "local"
