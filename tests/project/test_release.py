"""The published files: the description that a package index shows, and versions that were tried."""

import re
import runpy
import sys
import types

import pytest

import solver
from solver.base.errors import UncompiledRules
from solver.rules.game import load_game
from tests import ROOT
from tests.processes import python
from tests.refusals import raises
from tests.written import write_rules

PROJECT = (ROOT / "pyproject.toml").read_text("utf-8")
SUBSTITUTION = re.compile(r"^pattern = '(.*)'\nreplacement = '(.*)'$", re.MULTILINE)


def test_the_description_links_to_nothing_that_only_a_checkout_has():
    text = (ROOT / "README.md").read_text("utf-8")
    rules = SUBSTITUTION.findall(PROJECT)
    assert len(rules) == 3
    for pattern, replacement in rules:
        text = re.sub(pattern, replacement, text)
    assert "Writing rules (`docs/reference/rules.md`)" in text and "<picture>" not in text
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert [link for link in links if not link.startswith(("https://", "http://", "#"))] == []


def test_the_pythons_that_are_supported_are_named_alike_everywhere():
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', PROJECT)
    (least,) = re.findall(r'^requires-python = ">=(.*)"$', PROJECT, re.MULTILINE)
    assert named == [f"3.{minor}" for minor in range(int(least.partition(".")[2]), 15)]
    assert f'target-version = "py{least.replace(".", "")}"' in PROJECT
    assert f"It runs on Python {least} to {named[-1]}, on Linux" in (ROOT / "README.md").read_text("utf-8")


def test_every_version_that_is_asked_for_has_a_lower_bound():
    lists = re.findall(r"^(?:dependencies|solve|learn|cluster|plot|parquet) = (\[.*\])$", PROJECT, re.MULTILINE)
    asked = [one for one in re.findall(r'"(.*?)"', "".join(lists)) if not one.startswith("solverbook[")]
    assert len(asked) > 10 and all(re.fullmatch(r"[a-z-]+>=[\d.]+(; sys_platform != 'linux')?", one) for one in asked)


WITHOUT_NAMES_OF_NUMBAS_OWN = """
import sys

sys.modules["solver.store.linking"] = None
from solver.rules.game import load_game
from solver.compiled import agreement

agreement.compare(load_game("coins:8"), range(9))
"""
WITHOUT_NAMES_OF_RAYS_OWN = """
from solver.cluster import on_ray

def add(one, other):
    return one + other

on_ray.private_part = lambda *wanted: None
with on_ray.opened("local:1", 1 << 30) as engine:
    print(engine.result(engine.submit(add, 1, 2)[0]))
"""


@pytest.mark.slow
def test_without_names_of_numbas_and_rays_own_rules_compile_and_a_cluster_runs(tmp_path):
    pytest.importorskip("numba")
    python(WITHOUT_NAMES_OF_NUMBAS_OWN, env={"NUMBA_CACHE_DIR": str(tmp_path)}, check=True)
    pytest.importorskip("ray")
    assert python(WITHOUT_NAMES_OF_RAYS_OWN, check=True).stdout.split()[-1] == "3"


def test_without_names_of_numbas_own_parts_are_compiled_like_any_function(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.delitem(sys.modules, "solver.store.linking", raising=False)
    monkeypatch.delattr("numba._dynfunc.make_function")
    assert "pipeline_class" not in runpy.run_path(str(ROOT / "solver" / "store" / "shared.py"))["PART"]


def test_code_whose_place_is_not_told_is_said_in_one_line():
    edges = pytest.importorskip("solver.compiled.edges")
    silent = types.SimpleNamespace(compile=lambda kinds: None, overloads={(): types.SimpleNamespace(library=None)})
    raises(UncompiledRules, "install one that was tried", edges.address_of, silent, ())


def test_without_checks_rules_of_users_are_refused(monkeypatch, tmp_path):
    binding = pytest.importorskip("solver.compiled.binding")
    from solver.compiled.module import rules

    monkeypatch.setattr(binding, "CAN_CHECK", False)
    game = load_game(write_rules(tmp_path / "unchecked.py"))
    raises(UncompiledRules, "cannot check your rules: install Numba 0.68", binding.bind, rules, game)


def test_a_warning_says_what_happens_without_names_of_numbas_own(monkeypatch):
    shared = pytest.importorskip("solver.store.shared")
    monkeypatch.delattr("numba.core.serialize._numba_unpickle")
    with pytest.warns(RuntimeWarning, match=r"numba 0\.\d+\.\d+ lacks .*_numba_unpickle: an interrupt may crash"):
        shared.keep_signals_out()
    monkeypatch.delattr("numba.np.linalg.ensure_blas")
    with pytest.warns(RuntimeWarning, match=r"lacks np\.linalg\.ensure_blas: it loads scipy"):
        shared.load_blas_when_wanted()
    monkeypatch.delattr("numba.core.dispatcher._DispatcherBase.get_call_template")
    bare = types.SimpleNamespace()
    with pytest.warns(RuntimeWarning, match="get_call_template: kernels are compiled anew"):
        assert shared.once_for_constants(bare) is bare and not vars(bare)


def test_a_warning_says_what_happens_without_names_of_rays_own():
    on_ray = pytest.importorskip("solver.cluster.on_ray")
    other = types.SimpleNamespace(__name__="ray", __version__="9.0", _private=types.SimpleNamespace(node=None))
    said = pytest.warns(RuntimeWarning, match=r"ray 9\.0 lacks _private\.")
    with said as warned:
        on_ray._replace(other, *on_ray._lean([]))
    lost = [str(one.message).rpartition(": ")[2] for one in warned]
    assert lost[:3] == ["an autoscaler starts", "a log forwarder starts", "a page starts"] and "loopback" in lost[3]


def test_the_image_copies_files_that_are_there_and_installs_extras_that_exist():
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    copied = [word for line in re.findall(r"^COPY (.*) \S+$", dockerfile, re.MULTILINE) for word in line.split()]
    assert len(copied) == 5 and [name for name in copied if not (ROOT / name).exists()] == []
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    assert let_in == set(copied)
    (extras,) = re.findall(r"/source\[(.*?)\]", dockerfile)
    assert [extra for extra in extras.split(",") if f"\n{extra} = [" not in PROJECT] == []
    (port,) = re.findall(r"^EXPOSE (\d+)$", dockerfile, re.MULTILINE)
    assert f'ports: ["{port}:{port}"]' in (ROOT / "compose.yaml").read_text("utf-8")


def test_the_citation_is_of_this_version():
    (licence,) = re.findall(r'^license = "(.*)"$', PROJECT, re.MULTILINE)
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {solver.__version__}\n" in citation and f"\nlicense: {licence}\n" in citation
