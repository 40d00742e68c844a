"""By a cluster of Ray, in the files of a store that all its nodes reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solver.base import extras
from solver.base.errors import MethodError
from solver.check.playouts import states_of
from solver.rules.fingerprint import fingerprint
from solver.rules.game import load_game, located
from solver.solving.job import Job, Outcome
from solver.solving.ways import plain

if TYPE_CHECKING:
    from solver.cluster.nodes import Examined

name = "a cluster (--cluster)"
NO_STORE = "--store is empty: name a folder or URL that all nodes reach"
heeds: set[str] = {"cluster", "store", "memory", "workers", "restart", "checkpoint"}


def refuses(job: Job) -> str | None:
    """Refuse jobs that the method cannot take, a cluster that is not there, and one without a place for its work."""
    from solver.cluster import on_ray

    assert job.options.cluster is not None
    reason = plain.refuses(job) or job.rules.kind.refusal("cluster", job.rules.name)
    if reason is None and not extras.has_cluster():
        return f"--cluster: {extras.cluster_remedy()}"
    if reason is None and job.options.store == "":
        return NO_STORE
    if reason is None and job.options.store is None and not on_ray.is_local(job.options.cluster):
        return "a cluster keeps what is done where all its nodes reach it: name a folder or URL, --store"
    return reason


def solve(job: Job) -> Outcome:
    """Solve a game whole."""
    from solver.cluster import driver, on_ray

    rules, options, folder = job.rules, job.options, job.beside(".shards")
    assert options.cluster is not None and folder is not None
    url = str(folder.absolute()) if options.store is None else driver.url_of(rules, options.store)
    states = states_of(job.played())
    engine = job.files.enter_context(on_ray.connect(options.cluster, options.memory))
    driving = driver.Driver(rules, url, engine, options)
    job.files.callback(driving.close)
    solved = driving.solve(states)
    return Outcome(solved, solved.method, "complete", driving.remove, driving.mend)


def refuse_address(address: str) -> None:
    """Raise MethodError for a text that is not the address of a cluster."""
    from solver.cluster import on_ray

    on_ray.refuse_address(address)


def look(address: str, store: str, game: str | None) -> list[Examined]:
    """Look at the nodes of a cluster, for a solve of a game. Raises MethodError, GameError, ResourceError."""
    if not extras.has_cluster():
        raise MethodError(f"--cluster: {extras.cluster_remedy()}")
    if not store:
        raise MethodError(NO_STORE)
    from solver.cluster import nodes, on_ray
    from solver.cluster.store import Store

    rules = None if game is None else load_game(game)
    wanted = ("", "") if rules is None else (located(rules), fingerprint(rules))
    url = Store(store).url
    with on_ray.connect(address) as engine:
        return nodes.look(engine, nodes.Wanted(*wanted, url))
