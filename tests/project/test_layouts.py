"""Files that live on between versions: each kind has a layout number, tied here to a digest of its record types."""

import hashlib
from dataclasses import is_dataclass
from enum import EnumMeta
from importlib import import_module
from types import UnionType
from typing import Union, get_args, get_origin, get_type_hints

import pytest

from solver.base.errors import ResourceError
from solver.base.kinds import WDL
from solver.base.options import Options
from solver.rules.game import Rules, load_game
from solver.solving.job import Job
from solver.solving.racing import METHODS, Race
from solver.solving.ways.opening import Journal, header_of
from tests.refusals import raises

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

from solver.compiled.exact import alphabeta, proof  # noqa: E402
from solver.compiled.lookahead import depth, evaluation  # noqa: E402
from solver.store.work import Work  # noqa: E402
from solver.sweep.checkpoint import Checkpoint  # noqa: E402


def shape(kind):
    """A type as nested tuples of names: the fields of records with their types, members of enumerations."""
    if isinstance(kind, EnumMeta):
        return kind.__name__, *((member.name, member.value) for member in kind)
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        return kind.__name__, *((name, shape(field)) for name, field in get_type_hints(kind).items())
    if get_args(kind):
        return "|" if get_origin(kind) in (Union, UnionType) else get_origin(kind).__name__, *map(shape, get_args(kind))
    return kind.__name__


def constants(name):
    """The constants of a module but its layout's number, in their order; sets sorted."""
    named = {key: value for key, value in vars(import_module(name)).items() if key.isupper() and key != "LAYOUT"}
    return [(key, sorted(value) if isinstance(value, set) else value) for key, value in named.items()]


def proofs():
    kinds = [shape(getattr(module, name)) for module in (alphabeta, proof) for name in ("Frame", "Field")]
    numbers = (proof.ENTRIES, proof.FIELDS, proof.PROOF_SHIFT, proof.REFUTATION_SHIFT, proof.WORK_SHIFT)
    return kinds, shape(alphabeta.Move), *numbers


def commits():
    pytest.importorskip("fsspec")  # of the extra [cluster]
    from solver.cluster.shards import EVENTS

    return {name: shape(kind) for name, kind in EVENTS.items()}


def evaluations():
    packed = evaluation._packed(np.ones((2, 1), np.float32), np.ones(1, np.float32))
    return evaluation.Evaluation._fields, packed, evaluation.HEAD.format, evaluation.ACTIVATIONS, evaluation.FEATURES


def modules():
    kinds = (alphabeta.Frame, alphabeta.Field, alphabeta.Move, depth.Frame, depth.Window)
    return constants("solver.wasm.exports"), *map(shape, kinds)


def journals():
    header = header_of(Rules(load_game("tic-tac-toe")), 4).split(b" ")
    return len(header), Journal(None, b"", False)._packed(1, -2), Journal(None, b"", False, 16)._packed(1 << 64, 2)


@pytest.mark.parametrize(
    ("module", "records", "layout", "digest"),
    [
        ("solver.solving.racing", proofs, 3, "8383541b"),
        ("solver.store.work", lambda: shape(Checkpoint), 5, "a76eb501"),
        ("solver.cluster.shards", commits, 3, "8535a6a7"),
        ("solver.compiled.lookahead.evaluation", evaluations, 1, "a1fc30cf"),
        ("solver.wasm.exports", modules, 1, "5d145213"),
        ("solver.solving.ways.opening", journals, 1, "cb09713a"),
    ],
)
def test_a_layout_number_is_that_of_its_records(module, records, layout, digest):
    """If this fails, raise that LAYOUT and set both anew: a file of another layout must be refused, not read."""
    found = hashlib.sha256(repr(records()).encode()).hexdigest()[:8]
    assert (import_module(module).LAYOUT, found) == (layout, digest), records()


@pytest.mark.interpreted
@pytest.mark.parametrize("module", ["store.work", "solving.ways.opening", "solving.racing"])
def test_work_of_another_layout_is_refused_and_kept(tmp_path, monkeypatch, module):
    rules, path = Rules(load_game("tic-tac-toe"), kind=WDL), tmp_path / "a.lmdb.proof"

    def work():
        with Work(path, "mine") as files:
            files.checkpoint(None)

    def journal():
        with Journal(path, header_of(rules, 3), False):
            pass

    def prove():
        race = Race(Job(rules, tmp_path / "a.lmdb", Options()), rules, METHODS[:1], None)
        race._go_on(0)
        race._keep()

    opened = {"store.work": work, "solving.ways.opening": journal, "solving.racing": prove}[module]
    opened()
    opened()
    before = [file.read_bytes() for file in [path, *path.rglob("*")] if file.is_file()]
    monkeypatch.setattr(f"solver.{module}.LAYOUT", 99)
    raises(ResourceError, "version.*: --restart discards it, or name another book$", opened)
    assert [file.read_bytes() for file in [path, *path.rglob("*")] if file.is_file()] == before
