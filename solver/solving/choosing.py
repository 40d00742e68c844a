"""Choose the way a game is solved, and refuse bad options before any work is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from solver.base.errors import MethodError
from solver.base.kinds import NIMBER
from solver.base.methods import ASKED, AUTO, Method
from solver.book.codecs import codec_of
from solver.rules.loading import graph_in
from solver.rules.width import refuse_wide
from solver.search import nimbers
from solver.solving.job import Job, Way
from solver.solving.ways import cluster, entries, graphs, opening, plain, sweep

WAYS: tuple[Way, ...] = (sweep, cluster, entries, opening, plain, graphs)
KEPT_BESIDE_A_BOOK = ("restart", "checkpoint", "cluster")  # they mean nothing without one


def way_of(job: Job) -> Way:
    """The way that rules and options ask for."""
    options = job.options
    if options.max_ply is not None:
        return opening
    if options.method == Method.ALPHABETA:
        return entries
    if graph_in(job.rules.game) is not None and job.rules.chance and not job.rules.margins:
        return graphs
    if job.rules.plain_only:
        return plain
    return sweep if options.cluster is None else cluster


def refuse(job: Job, way: Way) -> None:
    """Raise MethodError if this way cannot do the job, or would ignore one of its options."""
    rules, options = job.rules, job.options
    if options.method not in ASKED:
        raise MethodError(f"no method {options.method!r}: choose one of {', '.join(ASKED)}")
    if options.cluster is not None:
        cluster.refuse_address(options.cluster)
    if options.max_ply is not None and options.method not in (AUTO, Method.ALPHABETA):
        raise MethodError(f"an opening book is made by alpha-beta: --method alphabeta, not {options.method}")
    if rules.kind is NIMBER:
        nimbers.check(rules)
    some_heed = sorted(set().union(*(each_way.heeds for each_way in WAYS)))
    refuse_ignored(way.name, way.heeds, job.target is not None, {name: getattr(options, name) for name in some_heed})
    reason = way.refuses(job)
    if reason is not None:
        raise MethodError(reason)
    if way in (sweep, cluster, plain):
        remedy = "an opening book by alpha-beta, --max-ply N, or solver grow take them"
        refuse_wide(rules.name, rules.bits, way.name, remedy)
    codec = codec_of(rules, options.codec)
    if rules.kind.is_stepped:
        refuse_wide(rules.name, rules.bits, f"the codec {codec}", "live search takes them")
    if options.codec not in (None, codec):
        rules.kind.refuse("codec", rules.name)


def refuse_ignored(name: str, heeds: set[str], keeps: bool, options_given: Mapping[str, Any]) -> None:
    """Raise MethodError for an option that was given, neither None nor False, but would be ignored.

    `name` is that of the way, and `keeps` says whether a book is written.
    """
    for option_name, value in options_given.items():
        if value is None or value is False:
            continue
        option = f"--{option_name.replace('_', '-')}"
        if option_name == "cluster" and option_name not in heeds:
            raise MethodError(f"{option} has no effect with {name}, which runs on one machine: omit it")
        if option_name not in heeds:
            ways = [each_way.name for each_way in WAYS if option_name in each_way.heeds]
            where = f"; it is for {' and '.join(ways)}" if ways else ""
            raise MethodError(f"{option} has no effect with {name}: omit it{where}")
        if option_name in KEPT_BESIDE_A_BOOK and not keeps:
            raise MethodError(f"{option} needs a book: add -o BOOK, or omit {option}")
