"""The guides and notebooks: the names in them exist, no room is off the tour, and notebooks are saved as they ran.

The documentation site builds without a warning, is whole, and loads nothing from elsewhere (make docs-test).
"""

import json
import re
import subprocess
import sys

import pytest

import solver
from solver.cli import COMMANDS
from solver.games import CATALOGUE
from tests import ROOT, table
from tests.project.test_imports import ALLOWED, PACKAGE

TESTS = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
GUIDES = ["README.md", "CONTRIBUTING.md", "examples/README.md"]
GUIDES += sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
# by commands, users, whoever adds one
MADE = {
    *("app.py", "book.bin", "book.js", "broken.py", "dist/", "exercise.json", "game.js", "games.js", "my_game.py"),
    *("package.json", "search.js", "site/", "strict.py", "book/codecs/NAME.py", "web/reader/NAME.js"),
}
# What they follow is not a module
ENDINGS = (".py", ".js", ".ts", ".css", ".c", ".rs", ".wasm", ".bin", ".lmdb", ".csv", ".kif")
FILE = re.compile(r"(?:[\w.-]+/)*(?:[\w-]+\.(?:py|js|md|json|toml|css|html|svg)|[\w.-]+/)")


def sections(guide):
    """Those of a guide, without its sessions and trees."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / guide).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.split(r"^#+ ", text, flags=re.MULTILINE)


def words(text):
    """The words of a section between backticks."""
    return [word.strip(",;") for span in re.findall(r"`([^`]+)`", text) for word in span.split()]


def lost_files(guide, section):
    """The files and folders that a section names and that are neither there nor in a folder that it names."""
    files = {word for word in words(section) if FILE.fullmatch(word)} - MADE
    folders = {word.rpartition("/")[0] for word in files if "/" in word}
    places = {ROOT, PACKAGE, (ROOT / guide).parent, *(place / one for one in folders for place in (ROOT, PACKAGE))}
    return {word for word in files if not any((place / word).exists() for place in places)}


def names():
    """Modules and what they define, by dotted names, whole and without the first of their parts."""
    for path in PACKAGE.rglob("*.py"):
        module = [part for part in path.relative_to(ROOT).with_suffix("").parts if part != "__init__"]
        for name in re.findall(r"^(?: *(?:def|class) )?(\w+)\b", path.read_text("utf-8"), re.MULTILINE):
            yield from (".".join([*module[first:], name]) for first in range(len(module)))
        yield from (".".join(module[first:]) for first in range(len(module)))


KNOWN = {*names(), *(f"solver.{name}" for name in solver.__all__)}
OURS = {name.partition(".")[0] for name in KNOWN if "." in name}


def is_lost(word):
    """Whether a word is `test_this`, `solver.module.name` or `module.name`, and there is none."""
    if word.startswith("test_"):
        return word not in TESTS
    dotted = re.fullmatch(r"(\w+)(?:\.\w+)+", word)
    return dotted is not None and dotted[1] in OURS and word not in KNOWN and not word.endswith(ENDINGS)


def anchors(path):
    """What links may end in: the headings of a guide."""
    headings = re.findall(r"^#+ (.*)", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("guide", GUIDES)
def test_what_a_guide_names_is_there(guide):
    assert {word for section in sections(guide) for word in lost_files(guide, section)} == set()
    assert {word for section in sections(guide) for word in words(section) if is_lost(word)} == set()
    for link, anchor in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", (ROOT / guide).read_text("utf-8")):
        path = (ROOT / guide).parent / link if link else ROOT / guide
        assert path.exists() and (not anchor or anchor in anchors(path)), (link, anchor)


def test_the_tree_of_the_tour_is_that_of_the_package_and_its_files_define_the_names_behind_them():
    tour = (ROOT / "docs" / "explanation" / "design.md").read_text("utf-8")
    tree = re.search(r"^solver/ .*\n((?:  \w+/ .*\n)+)", tour, re.MULTILINE)
    assert re.findall(r"^  (\w+)/", tree[1], re.MULTILINE) == [*ALLOWED, "web"]
    for file, name in re.findall(r"`(\w+/\w+\.py)`,? \(?`(\w+)`", tour):
        text = (PACKAGE / file).read_text("utf-8")
        assert re.search(rf"^ *(?:def |class )?{name}\b", text, re.MULTILINE), (file, name)


def test_the_tables_of_games_are_those_of_the_oracles():
    is_same = table.GUIDE.read_text("utf-8") == table.guide()
    assert is_same, "docs/reference/games.md has other figures than tests/oracles.py: run make tables"


def test_every_game_has_an_oracle_in_a_test_that_is_there():
    known = table.rows()
    missing = set(CATALOGUE) - {table.name_of(row.game) for row in known}
    remedy = "add a figure to ORACLES or ELSEWHERE of tests/oracles.py, then run make tables"
    assert not missing, f"no oracle of {', '.join(sorted(missing))}: {remedy}"
    for row in known:
        assert (ROOT / row.test).exists() or row.test in TESTS


def test_the_numbers_of_games_and_books_are_those_of_the_package():
    texts = {path: (ROOT / path).read_text("utf-8") for path in table.PAGES}
    for pattern in table.COUNTED:
        assert any(re.search(pattern, text) for text in texts.values()), f"nobody says how many: {pattern}"
    wrong = [path for path, text in texts.items() if table.counted(text) != text]
    assert not wrong, f"{', '.join(wrong)} quote other numbers of games or books: run make tables"


NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
RUN = "run python scripts/notebooks.py"
VOLATILE = re.compile(r"/(?:tmp|home|root|work|Users)/|\d\.\d+ s\b")
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


@pytest.mark.docs
@each_notebook
def test_a_notebook_runs(path, monkeypatch):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas" if "pandas" in path.stem else "sklearn" if "train" in path.stem else "numpy")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import notebooks

    kinds = [[output["output_type"] for output in cell.get("outputs", ())] for cell in notebooks.run(path).cells]
    saved = json.loads(path.read_text("utf-8"))["cells"]
    assert kinds == [[output["output_type"] for output in cell.get("outputs", ())] for cell in saved], RUN


@each_notebook
def test_a_notebook_is_saved_with_its_outputs_and_nothing_that_changes(path):
    notebook = json.loads(path.read_text("utf-8"))
    assert notebook["metadata"]["kernelspec"]["name"] == "python3" and 8 <= len(notebook["cells"]) <= 15
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)], RUN
    assert all(cell["metadata"] == {} for cell in notebook["cells"])
    outputs = [output for cell in code for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    assert not VOLATILE.search(json.dumps(outputs)), "a path or a time, which differ from run to run"
    assert "<svg" in json.dumps(outputs)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site. Any warning fails: a broken link, a page without a place, an unknown name."""
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site") / "html"
    build = [sys.executable, "-m", "sphinx", "-n", "-W", "--keep-going", "-q", ROOT / "docs", folder]
    done = subprocess.run(build, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.mark.docs
def test_the_site_loads_nothing_from_elsewhere(site):
    loading = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]*(?:src|href|srcset)=[\"']?(https?:[^\"' >]+)")
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    assert {found for page in pages for found in loading.findall(page.read_text("utf-8"))} == set()


@pytest.mark.docs
def test_the_reference_has_all_commands_and_all_public_names(site):
    commands = (site / "reference" / "cli.html").read_text("utf-8")
    assert [name for name in COMMANDS if f'id="solver-{name}"' not in commands] == []
    names = (site / "reference" / "api.html").read_text("utf-8")
    assert [name for name in solver.__all__ if f'id="solver.{name}"' not in names] == []
