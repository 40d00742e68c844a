"""The documentation site builds without a warning, is whole, and loads nothing from elsewhere (make docs-test)."""

import re
import subprocess
import sys

import pytest

import solver
from solver.cli import COMMANDS
from tests import ROOT

pytestmark = pytest.mark.docs


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site. Any warning fails: a broken link, a page without a place, an unknown name."""
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site") / "html"
    build = [sys.executable, "-m", "sphinx", "-n", "-W", "--keep-going", "-q", ROOT / "docs", folder]
    done = subprocess.run(build, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_the_site_loads_nothing_from_elsewhere(site):
    loading = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]*(?:src|href|srcset)=[\"']?(https?:[^\"' >]+)")
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    assert {found for page in pages for found in loading.findall(page.read_text("utf-8"))} == set()


def test_the_reference_has_all_commands_and_all_public_names(site):
    commands = (site / "reference" / "cli.html").read_text("utf-8")
    assert [name for name in COMMANDS if f'id="solver-{name}"' not in commands] == []
    names = (site / "reference" / "api.html").read_text("utf-8")
    assert [name for name in solver.__all__ if f'id="solver.{name}"' not in names] == []


def test_a_search_finds_every_page(site):
    index = (site / "searchindex.js").read_text("utf-8")
    pages = [path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if f'"{page}"' not in index] == []
