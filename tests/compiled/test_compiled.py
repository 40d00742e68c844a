"""Rules compiled per game: each trap of Numba's cache and typing that was met once has a test here."""

import ast
import itertools
import json
import random
import re
import shutil
from pathlib import Path

import pytest

from solver.rules import sources
from solver.rules.game import Rules, load_game
from tests import ROOT
from tests.processes import python
from tests.written import write_rules

numba = pytest.importorskip("numba")

from solver.compiled import edges  # noqa: E402
from solver.compiled.binding import bind  # noqa: E402
from solver.compiled.identity import are_cached, constants_of, identity_of  # noqa: E402
from solver.compiled.module import rules  # noqa: E402
from solver.store import shared  # noqa: E402

AHEAD = "for step in range(1, 3):\n    if self._ahead(state{}) >= step:\n        yield step"


def write_race(path, *, utility=-1, helper_parameters=0):
    """Rules that ask a helper, which may take more parameters than it needs."""
    spare = "".join(f", spare{i}" for i in range(helper_parameters))
    helper = f"def _ahead(self, state{spare}):\n    return self.goal - state"
    bodies = {"actions": AHEAD.format(", 0" * helper_parameters), "is_terminal": "state == self.goal", "tier": "state"}
    write_rules(path, utility=f"{utility}", more=helper, **bodies)
    return path


SWEEP = """
import json
from solver.base.options import Options
from solver.compiled.edges import CompiledMoves
from solver.rules.game import Rules, load_game
from solver.sweep import exhaustive
game = load_game("race.py::Race")
root = exhaustive.solve(game, options=Options(symmetry=False)).root.score
stats = [kernel.stats for kernel in vars(CompiledMoves(Rules(game, False), True).kernels).values()]
hits, misses = (sum(sum(one[at].values()) for one in stats) for at in (1, 2))
print(json.dumps([root, hits, misses]))
"""


def swept_in_a_new_process(folder):
    """The value of the start, and how often Numba's cache hit and missed."""
    environment = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    return json.loads(python(SWEEP, env=environment, cwd=folder, check=True).stdout)


@pytest.mark.slow
def test_a_second_process_loads_compiled_rules_of_a_users_file_and_an_edit_compiles_anew(tmp_path):
    rules = write_race(tmp_path / "race.py")
    first, second = (swept_in_a_new_process(tmp_path) for _ in range(2))
    write_race(rules, utility=1)
    edited = swept_in_a_new_process(tmp_path)
    assert first[0] == second[0] == 1  # who cannot move loses: 10 % 3 != 0
    assert first[2] > 0 and second[1] > 0 == second[2]
    assert edited[0] == -1 and edited[2] > 0  # misere: 10 % 3 == 1


def test_equal_parameters_of_two_games_are_two_games_whose_helpers_may_take_different_parameters(tmp_path):
    one = load_game(f"{write_race(tmp_path / 'equal_one.py', utility=1)}::Race")
    two = load_game(f"{write_race(tmp_path / 'equal_two.py', helper_parameters=2)}::Race")
    assert one == two
    for game, utility in ((one, 1), (two, -1)):
        assert bind(rules, game).utility(10) == utility
        assert rules.answer(bind(rules, game), "actions", 9)[:1] == [1]


def test_a_method_of_one_game_hides_no_parameter_of_another(tmp_path):
    text = write_race(tmp_path / "method_race.py").read_text("utf-8") + "\n    def length(self):\n        return 1\n"
    (tmp_path / "method_race.py").write_text(text)
    (tmp_path / "field_race.py").write_text(text.replace("goal", "length").partition("\n    def length(self)")[0])
    for name in ("method_race.py", "field_race.py"):
        assert rules.answer(bind(rules, load_game(f"{tmp_path / name}::Race")), "actions", 0) == [1, 2]


def test_cached_kernels_are_found_without_the_compiler_unless_a_base_class_moved(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    rules = Rules(load_game(f"{write_race(tmp_path / 'cached.py')}::Race"))
    assert not are_cached(rules, tiers=True)
    name = f"edges.edges-{identity_of(rules, constants_of(rules), edges.__file__)}-68.py311.nbi"
    (tmp_path / "kernels_0123").mkdir()
    (tmp_path / "kernels_0123" / name).touch()
    assert are_cached(rules, tiers=True) and not are_cached(rules, tiers=False)
    bases = [type(load_game(f"{write_race(tmp_path / name)}::Race")) for name in ("here.py", "there.py")]
    games = [type("Longer", (base,), {})(12) for base in bases]
    assert len({identity_of(Rules(game), {}, edges.__file__) for game in games}) == 2


def package_imports(path):
    """The files of the package that one imports, as its syntax tree tells."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, path  # or the package's digests do not see it
            names = [f"{node.module}.{name}" for name in names] + [node.module]
        for name in names:
            place = ROOT.joinpath(*name.split("."))
            found = next((one for one in (place.with_suffix(".py"), place / "__init__.py") if one.is_file()), None)
            if found is not None and name.partition(".")[0] == "solver":
                yield str(found)


def test_all_that_a_file_imports_counts_for_its_machine_code():
    """A package itself counts where a name of its own is taken from it, as its modules need not all."""
    files = Path(sources.PACKAGE).rglob("*.py")
    kernels = [path for path in files if re.search("^@(shared|kernel)", path.read_text("utf-8"), re.MULTILINE)]
    assert len(kernels) > 20
    for path in kernels:
        missing = set(package_imports(path)) - sources.files_behind(str(path))
        assert not {name for name in missing if not name.endswith("__init__.py")}, path
    taken = sources.files_behind(str(ROOT / "solver/cli/__init__.py"))
    assert {str(ROOT / "solver/__init__.py"), str(ROOT / "solver/base/errors.py")} <= taken


def test_all_machine_code_is_cached_by_what_it_may_hold():
    """Numba is asked in two places only, which put a digest into the name of what they cache; `extras` only tries."""
    asked = [path for path in Path(sources.PACKAGE).rglob("*.py") if "njit(" in path.read_text("utf-8")]
    assert {path.name for path in asked} == {"shared.py", "binding.py", "extras.py"}
    from solver.cluster.blocks import owner_of
    from solver.compiled.exact.table import spread

    for kernel in (owner_of, spread):
        name, digest = kernel.py_func.__qualname__.split("-")
        assert digest == sources.digest_behind(shared.__file__, kernel.py_func.__code__.co_filename)


def test_an_edit_of_what_kernels_call_is_an_edit_of_them(tmp_path, monkeypatch):
    """Of an edited `owner_of` in blocks.py the kernels of rounds.py once ran the old code."""
    copy = tmp_path / "solver"
    shutil.copytree(sources.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "books", "data"))
    monkeypatch.setattr(sources, "PACKAGE", str(copy))
    rules = Rules(load_game("coins"))
    files = [str(copy / name) for name in ("cluster/rounds.py", "compiled/lookahead/depth.py", "store/sorting.py")]

    def keys():
        for cached in (sources.digest_behind, sources.digest_and_imports, sources.file_of):
            cached.cache_clear()
        return [sources.digest_behind(files[0]), identity_of(rules, {}, files[1]), sources.digest_behind(files[2])]

    def edited(name):
        with (copy / name).open("a") as file:
            file.write("EDITED = True\n")
        return keys()

    try:
        first = keys()
        blocks, moves = edited("cluster/blocks.py"), edited("compiled/edges.py")
    finally:
        monkeypatch.undo()
        keys()
    assert [one == other for one, other in zip(first, blocks, strict=True)] == [False, True, True]
    assert [one == other for one, other in zip(blocks, moves, strict=True)] == [False, False, True]


@pytest.mark.parametrize("width", [128, 192, 256])
def test_wide_numbers_are_divided_as_in_python(width):
    from solver.compiled import operators, wide  # noqa: F401, Numba learns the operators from it

    one = wide.Constant.of(1, width)
    mask = (1 << 31) - 1

    @numba.njit
    def divided(number_high, number_low, by_high, by_low, place):
        number, by = ((one * number_high) << 62) + number_low, ((one * by_high) << 62) + by_low
        return (number // by) >> place & mask, (number % by) >> place & mask

    chance = random.Random(1)
    highs = [0, 1, -1, 3, -50, 1 << 61, *(chance.randrange(-(1 << 61), 1 << 61) for _ in range(6))]
    lows = [0, 1, 7, (1 << 31) + 5, (1 << 62) - 1, chance.randrange(1 << 62)]
    for number_high, by_high, number_low, by_low in itertools.product(highs, highs, lows, lows):
        if by := (by_high << 62) + by_low:
            quotient, rest = divmod((number_high << 62) + number_low, by)
            place = chance.randrange(0, width, 31)
            found = divided(number_high, number_low, by_high, by_low, place)
            assert found == (quotient >> place & mask, rest >> place & mask), (number_high, number_low, by)


def is_slice(node):
    return isinstance(node, ast.Subscript) and any(isinstance(part, ast.Slice) for part in ast.walk(node.slice))


def test_no_kernel_assigns_a_slice_to_a_slice():
    """That takes Numba two seconds to compile, for a message about shapes; a loop takes none."""
    for path in Path(sources.PACKAGE).rglob("*.py"):
        text = path.read_text("utf-8")
        if re.search(r"^@(shared|kernel|inlined|register_jitable)", text, re.MULTILINE):
            for function in ast.parse(text).body:
                if isinstance(function, ast.FunctionDef) and function.decorator_list:
                    assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
                    assert not [node.lineno for node in assigned if is_slice(node.targets[0]) and is_slice(node.value)]
