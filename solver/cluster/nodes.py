"""A look at the nodes of a cluster before they get work: a task on each reports its software and tries the store.

A look takes about a second, and a file of 64 kB for each node.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from solver import __version__
from solver.base.errors import ResourceError, SolverError
from solver.base.extras import free_memory
from solver.cluster.engine import Engine
from solver.cluster.store import LOOKED, Damaged, File, one_line, store_at
from solver.rules.fingerprint import fingerprint
from solver.rules.game import load_game

READ = 1 << 16  # bytes of the driver's file, and of each node's
ANSWER_SECONDS = 120.0  # seconds for the answer of a node, whose worker may have to start
PROBE = "probe-starts-0-0"  # a label of shard files, so that a file that is left behind goes with them
LESS = "give all nodes the same files"


class Examined(NamedTuple):
    """A node: facts of it, None where it does not say, and why it can take no part.

    `ahead` are the seconds by which its clock certainly differs from that of the driver.
    """

    host: str
    version: str | None = None
    fingerprint: str | None = None
    sees_store: bool = False
    memory: int | None = None
    ahead: float | None = None
    faults: tuple[str, ...] = ()


def look(engine: Engine, url: str, game: str = "", wanted: str = "") -> list[Examined]:
    """Look at all nodes. Raises ResourceError if this machine cannot write to the store.

    Args:
        engine: The engine of the cluster.
        url: The store.
        game: The game that all nodes must have; empty if none matters.
        wanted: Its fingerprint.
    """
    store = store_at(url)
    store.require(store.root)
    file = store.put(PROBE, np.frombuffer(os.urandom(READ), np.uint8))
    try:
        sent = time.time()
        requests = [
            (node.host, engine.submit(examine, game, wanted, url, *file, node=node.id)[0]) for node in engine.nodes()
        ]
        nodes = []
        for host, handle in requests:
            try:
                facts = engine.result(handle, ANSWER_SECONDS)
            except Exception as error:
                # A node with another version, or half of one, may raise any error
                fault = f"cannot be asked: {one_line(error)}"
                if isinstance(error, TimeoutError):
                    fault = f"has not answered for {ANSWER_SECONDS:g} s: look into Ray's log there"
                nodes.append(Examined(host, faults=(fault,)))
                continue
            clock, here = facts["clock"], socket.gethostname()
            ahead = max(0.0, clock - time.time()) or min(0.0, clock - sent)
            read = {name: facts.get(name) for name in ("version", "fingerprint", "memory")}
            faults = []
            if facts["version"] != __version__:
                faults.append(f"has solverbook {facts['version']}, {here} has {__version__}: install the same on both")
            if "unruled" in facts:
                faults.append(f"cannot load the rules ({facts['unruled']}): {LESS}")
            elif facts["fingerprint"] != wanted:
                faults.append(f"has other rules of {game}: {LESS}")
            if "unstored" in facts:
                faults.append(f"cannot use the store: {facts['unstored']}")
            elif not facts.get("sees_store"):
                faults.append(
                    f"does not see what {here} writes to {url}: mount it there, or name a --store that all nodes reach"
                )
            sees_store = bool(facts.get("sees_store"))
            nodes.append(Examined(host, **read, sees_store=sees_store, ahead=ahead, faults=tuple(faults)))
        return nodes
    finally:
        store.remove([file.name])


def refuse(nodes: Sequence[Examined]) -> None:
    """Raise ResourceError if a node can take no part."""
    wrong = [node for node in nodes if node.faults]
    if wrong:
        others_text = f" ({', '.join(node.host for node in wrong[1:])} cannot take part either)" if wrong[1:] else ""
        raise ResourceError(f"node {wrong[0].host} {wrong[0].faults[0]}{others_text}")
    if not nodes:
        raise ResourceError("no node of the cluster runs tasks: start one with a processor, ray start --num-cpus N")


def line(node: Examined) -> str:
    """A node in words."""
    if node.version is None:
        return f"node {node.host} {'; '.join(node.faults)}"
    facts = [f"solverbook {node.version}"]
    if node.fingerprint:
        facts.append(f"rules {node.fingerprint[:12]}")
    if node.sees_store:
        facts.append("sees the store")
    if node.memory is not None:
        facts.append(f"{node.memory / 1e9:.1f} GB of memory free")
    if node.ahead is not None and abs(node.ahead) > LOOKED:
        side = "ahead" if node.ahead > 0 else "behind"
        facts.append(f"its clock is {abs(node.ahead):,.0f} s {side} of this machine's: let both follow one time server")
    elif node.ahead is not None:
        facts.append("clock right")
    return f"node {node.host}: {', '.join([*facts, *node.faults])}"


def examine(game: str, wanted: str, url: str, name: str, length: int) -> dict[str, Any]:
    """The task: facts of the node that runs it. A dict, since another version of this package reads it."""
    facts: dict[str, Any] = {"clock": time.time(), "version": __version__, "memory": free_memory()}
    try:
        facts["fingerprint"] = fingerprint(load_game(game)) if game else ""
    except SolverError as error:
        facts["unruled"] = one_line(error)
    try:
        store = store_at(url)
        store.get(File(name, length), np.uint8)
        facts["sees_store"] = True
        file = store.put(PROBE, np.zeros(READ, np.uint8))
        store.remove([file.name])
    except Damaged:
        facts["sees_store"] = False
    except SolverError as error:
        facts["unstored"] = one_line(error)
    return facts
