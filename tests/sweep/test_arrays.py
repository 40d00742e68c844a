"""Arrays by state, and by number for rules that take moves back: the same book as by sorting, byte for byte."""

import itertools
import json
import math
import random

import pytest

from solver import load_game
from solver.base.errors import DamagedBook, GameError, MethodError, ResourceError
from solver.base.value import Value, sign_of
from solver.book import Book
from solver.book.codecs.ranked import Ranks
from solver.check.conformance import check_game
from solver.estimate import estimation
from solver.export import site
from solver.export.bin import facts_of as exported_facts
from solver.export.layout import layout_of as layout_of_rules
from solver.play.player import Player
from solver.report import searches
from solver.report.facts import facts_of
from solver.rules.game import Rules
from solver.rules.orbits import layout_of, orbits
from solver.solving import pipeline
from solver.solving.ways import plain
from solver.verifying import verification
from tests import naive, oracles
from tests.books import write_values
from tests.refusals import failing, raises
from tests.solutions import Stopped, assert_is_the_truth, stops_until_solved, swept, values
from tests.ways import slow, slow_rows
from tests.written import ruled

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

from solver.compiled import edges  # noqa: E402
from solver.store.work import Work  # noqa: E402
from solver.sweep import arrays, by_number, exhaustive, forward, numbered, resources, scale  # noqa: E402
from solver.sweep.checkpoint import ArrayState, Checkpoint  # noqa: E402

pytestmark = pytest.mark.interpreted

# Men on a ring of `points`: place two each, then step to an empty neighbour; who closes three in a row with the other
# side's man in the middle takes it, and who has one man left, or cannot move, has lost.
RING = """
from typing import NamedTuple

class Ring(NamedTuple):
    points: int = 6
    men: int = 2
    everywhere = {everywhere}

    def initial(self): return 0
    def mine(self, state): return state & (1 << self.points) - 1
    def theirs(self, state): return state >> self.points & (1 << self.points) - 1
    def stood(self, state): return state >> 2 * self.points
    def near(self, men):
        wide = (1 << self.points) - 1
        return (men << 1 | men >> self.points - 1 | men >> 1 | men << self.points - 1) & wide
    def actions(self, state):
        mine, theirs = self.mine(state), self.theirs(state)
        for source in range(self.points + 1):
            near = self.near(mine & 1 << source)
            if self.stood(state) < 2 * self.men:
                near = (1 << self.points) - 1 if source == self.points else 0
            for target in range(self.points):
                if near & ~(mine | theirs) & 1 << target:
                    yield source * self.points + target
    def result(self, state, action):
        source, target = action // self.points, action % self.points
        mine, theirs, placed = self.mine(state), self.theirs(state), self.stood(state)
        mine |= 1 << target
        if source < self.points:
            mine ^= 1 << source
            theirs &= ~self.taken(mine, 1 << target)
        else:
            placed += 1
        return theirs | mine << self.points | placed << 2 * self.points
    def taken(self, mine, target):
        wide, taken = (1 << self.points) - 1, 0
        for step in (1, self.points - 1):
            one = (target << step | target >> self.points - step) & wide
            two = (one << step | one >> self.points - step) & wide
            if two & mine and two != target:
                taken |= one
        return taken
    def is_terminal(self, state):
        mine, theirs = self.mine(state), self.theirs(state)
        return self.stood(state) == 2 * self.men and (theirs == 0 or self.near(mine) & ~(mine | theirs) == 0)
    def utility(self, state): return 1 if self.theirs(state) == 0 else -1
    def tier(self, state):
        men = state & (1 << 2 * self.points) - 1
        return 2 * self.stood(state) - men.bit_count()
    def turned(self, men):
        both = 1 | 1 << self.points
        return (men << 1 & ~both | men >> self.points - 1 & both) & (1 << 2 * self.points) - 1
    def canonical(self, state):
        rest, mirrored = self.stood(state) << 2 * self.points, 0
        men = least = state ^ rest
        for point in range(self.points):
            mirrored |= (men >> point & (1 | 1 << self.points)) << self.points - 1 - point
        for turn in range(self.points):
            men, mirrored = self.turned(men), self.turned(mirrored)
            least = min(least, min(men, mirrored))
        return least | rest
    def symmetries(self):
        yield [(point + 1) % self.points for point in range(self.points)]
        yield [self.points - 1 - point for point in range(self.points)]
    def tables(self):
        for placed in range(2 * self.men + 1):
            for mine in range(placed // 2 + 1):
                for theirs in range((placed + 1) // 2 + 1):
                    if placed == 2 * self.men or mine + theirs == placed:
                        yield placed, mine, theirs
"""

PARENTS = """
    def parents(self, state):
        mine, theirs, rest = self.mine(state), self.theirs(state), self.stood(state)
        for target in range(self.points):
            if rest < 2 * self.men or not theirs >> target & 1{bug}:
                continue
            for source in range(self.points):
                before = theirs ^ (1 << target) ^ (1 << source)
                if self.near(1 << target) >> source & 1 and not (mine | theirs) >> source & 1:
                    # What it would have taken is still there
                    if self.taken(theirs, 1 << target) & mine == 0:
                        yield before | mine << self.points | rest << 2 * self.points
"""

SCAN = """
    def digits(self):
        yield 15 << 2 * self.points
        for point in range(self.points):
            yield (1 | 1 << self.points) << point
    def scan(self, place, memo, digit):
        # In the end the tier, so that numbers ascend with it
        if place == 0:
            memo = digit if digit <= 2 * self.men else -1
        elif digit == 3:
            return -1
        else:
            memo += (0, 16, 256, 0)[digit]
        placed, mine, theirs = memo & 15, memo >> 4 & 15, memo >> 8
        if memo < 0 or mine > placed // 2 or theirs > (placed + 1) // 2:
            return -1
        return memo if place < self.points else 2 * placed - mine - theirs
"""


@pytest.fixture
def by_kernels(monkeypatch):
    """However few the positions are; and few of them are looked at once more, of the same rules again and again."""
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 0)
    monkeypatch.setattr(resources, "FEW_NUMBERS", 0)
    monkeypatch.setattr("solver.solving.job.random_games", lambda *given, **options: [])
    monkeypatch.setattr(numbered, "CHECKED", 20)
    monkeypatch.setattr(numbered, "EARLY_STATES", 4)
    monkeypatch.setattr(numbered, "PARENTS_SECONDS", math.inf)
    monkeypatch.setattr(exhaustive, "SAMPLED", 20)


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    """Rules in one folder: the same ones compile once."""
    folder = tmp_path_factory.mktemp("ring")

    def load(parameters="", everywhere=False, bug="", scanned=False):
        path = folder / f"ring_{everywhere}_{len(bug)}_{scanned}.py"
        text = RING.format(everywhere=everywhere) + PARENTS.format(bug=bug)
        path.write_text(text.partition("    def symmetries")[0] + SCAN + PARENTS.format(bug=bug) if scanned else text)
        return load_game(f"{path}::Ring{parameters}")

    return load


never = failing(Stopped)


def stopping_at(last):
    """A progress callback that stops a solve at a step."""
    return lambda step, *report: never() if step == last else None


def sorting(monkeypatch):
    monkeypatch.setattr(resources, "by_number", lambda rules, codec: None)


def assert_are_the_same_bytes(game, path, monkeypatch, **options):
    """A book by number, `numbered.lmdb`, and one by sorting."""
    used, backward = [], numbered.ByNumber.backward
    with monkeypatch.context() as context:
        context.setattr(numbered.ByNumber, "backward", lambda *given: used.append(True) or backward(*given))
        pipeline.solve(game, path / "numbered.lmdb", **options).close()
        assert used
        sorting(context)
        pipeline.solve(game, path / "sorted.lmdb", **options).close()
    assert (path / "numbered.lmdb").read_bytes() == (path / "sorted.lmdb").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("wdl", [True, False])
@pytest.mark.parametrize(
    "text", ["six-mens-morris:3", "six-mens-morris:3,true", "nine-mens-morris:3", "dao", "neutreeko", "teeko"]
)
def test_the_book_is_that_of_the_sorted_sweep(tmp_path, monkeypatch, by_kernels, text, wdl):
    assert_are_the_same_bytes(load_game(text), tmp_path, monkeypatch, wdl=wdl)
    assert verification.verify(tmp_path / "numbered.lmdb").verdict == "proved"


@pytest.mark.parametrize("codec", ["instant", *slow("ranked")])
@pytest.mark.parametrize("wdl", [False, *slow(True)], ids=["distances", "wdl"])
@pytest.mark.parametrize("everywhere", [False, *slow(True)], ids=["", "everywhere"])
def test_every_value_is_the_naive_twins(tmp_path, monkeypatch, by_kernels, ring, everywhere, wdl, codec):
    game = ring(everywhere=everywhere)
    assert_are_the_same_bytes(game, tmp_path, monkeypatch, wdl=wdl, codec=codec)
    truth = naive.solve(game)
    with Book(tmp_path / "numbered.lmdb", game) as book:
        assert book.header.method == "retrograde"
        for state, value in truth.items():
            if not game.is_terminal(state):
                assert book[game.canonical(state)] == (sign_of(value) if wdl else value)


# A man of either side, on two points: exchange them, which stays in the tier, or end the game, which wins.
Pair = ruled(
    "Pair",
    initial="6",
    actions="yield from range(10)",
    result="(state & 3) << 2 | state >> 2 if action == 9 else 22",
    is_terminal="state >= 16",
    tier="state >> 4",
    canonical="state & 16 | 6",
    symmetries="yield [1, 0]",
    tables="yield from [(0, 1, 1), (1, 1, 1)]",
    parents="if state < 16:\n    yield (state & 3) << 2 | state >> 2",
)


def test_moves_that_stay_are_seen_though_others_win(tmp_path, monkeypatch, by_kernels):
    """Wins are looked no further into, but play may come back all the same."""
    assert_are_the_same_bytes(Pair(), tmp_path, monkeypatch, wdl=True)


@pytest.mark.slow
@pytest.mark.parametrize("symmetry", [False, True])
def test_numbers_by_scan_do_as_well(tmp_path, monkeypatch, by_kernels, ring, symmetry):
    """Whether positions are folded or not: numbers of twins that are folded away belong to nobody."""
    assert_are_the_same_bytes(ring(scanned=True), tmp_path, monkeypatch, symmetry=symmetry)


@pytest.mark.parametrize("symmetry", [False, True])
def test_all_positions_are_starts(monkeypatch, by_kernels, ring, symmetry):
    """By number where they are folded, of which there may be more than a game can list."""
    monkeypatch.setattr(forward, "FEW_STARTS", 5)
    monkeypatch.setattr(forward, "MOST_STARTS", 5)
    rules = Rules(ring(everywhere=True), symmetry)
    parts = list(forward.starts_of(edges.CompiledMoves(rules), 20))
    assert len(parts) > 1
    tiers = {key: tier for part in parts for key, tier in zip(*map(np.ndarray.tolist, part), strict=True)}
    starts = {rules.canonical(state) for state in (rules.game.initial(), *rules.starts())}
    assert tiers == {state: rules.tier(state) for state in starts}


@pytest.mark.parametrize(
    ("everywhere", "codec"), [(False, "ranked"), *slow_rows((True, "ranked"), (False, "instant"), (True, "compact"))]
)
def test_distances_to_a_conversion_are_the_naive_twins(tmp_path, by_kernels, ring, everywhere, codec):
    game = ring(everywhere=everywhere)
    values, plies = naive.solve(game), naive.conversions(game)
    assert max(plies.values()) > 3
    with pipeline.solve(game, tmp_path / "book.lmdb", conversion=True, codec=codec) as book:
        assert book.header.wdl and book.header.longest[0] == max(p for s, p in plies.items() if values[s].score > 0)
        for state, value in values.items():
            if not game.is_terminal(state):
                assert book[state] == sign_of(value)
                assert book.plies_to_conversion(game.canonical(state)) == plies.get(state)
        looked_up = book.lookup(list(plies))
        assert looked_up.scores.tolist() == [values[state].score for state in plies]
        facts = json.loads(exported_facts(book.header))
        assert facts["wdl"] and facts["longest"] is None and "conversion" not in facts
    assert verification.verify(tmp_path / "book.lmdb", game).verdict == "proved"


@pytest.mark.parametrize("plain_limit", [0, *slow(1 << 20)])
def test_a_forged_distance_to_a_conversion_is_refused(tmp_path, monkeypatch, by_kernels, ring, plain_limit):
    game = ring()
    pipeline.solve(game, tmp_path / "book.lmdb", conversion=True).close()
    monkeypatch.setattr(verification, "PLAIN_LIMIT", plain_limit)
    with Book(tmp_path / "book.lmdb", game) as book:
        true = {state: Value(value.score, book.plies_to_conversion(state)) for state, value in book.items()}
        made = ("palette", "numbers", "stored", "longest", "book_id", "digest")
        facts = {name: fact for name, fact in book.header._asdict().items() if name not in made}
    state = next(state for state, value in true.items() if (value.distance or 0) > 1)
    for further in (1, -1, 0):
        score, plies = true[state]
        write_values(tmp_path / "forged.lmdb", {**true, state: Value(score, plies + further)}, facts=facts)
        if further:
            raises(DamagedBook, "conversion|value", verification.verify, tmp_path / "forged.lmdb", game)
            (tmp_path / "forged.lmdb").unlink()
    assert verification.verify(tmp_path / "forged.lmdb", game).verdict == "proved"


def test_players_finish_wins_by_distances_to_a_conversion(tmp_path, by_kernels, ring):
    """Against the longest defence, whatever the tiers: no search of theirs could."""
    game = ring()
    values, plies = naive.solve(game), naive.conversions(game)
    with pipeline.solve(game, tmp_path / "book.lmdb", conversion=True) as book:
        player, played = Player(book, live=False), 0
        for start in list(plies)[::7]:
            state, left = start, plies[start]
            while not game.is_terminal(state):
                move = player.choose(state)
                assert player.conversion(state, move) == plies[state]
                tier, state = game.tier(state), move.child
                if not game.is_terminal(state):
                    assert values[state].score
                    left = plies[state] if game.tier(state) > tier else left - 1
                    assert plies[state] == left
                played += 1
        assert played > 100


@pytest.mark.parametrize("step", [61, *slow(1)])
@pytest.mark.parametrize("option", ["conversion", *slow("wdl", "")])
def test_a_solve_stopped_anywhere_goes_on_to_the_same_book(tmp_path, by_kernels, ring, option, step):
    # It goes on from where it was, so that n stops take it through n * (n + 1) / 2 reports
    assert stops_until_solved(ring(), tmp_path, step, **({option: True} if option else {})) > 10 // step


def test_numbers_are_those_of_positions_up_to_symmetry(ring):
    for game in (load_game("nine-mens-morris:3"), load_game("teeko"), ring(), ring(":7,3")):
        rules = Rules(game)
        numbering = rules.numbering
        chance = random.Random(0)
        for number in [0, numbering.size - 1, *(chance.randrange(numbering.size) for _ in range(300))]:
            state = numbering.unrank(number)
            assert numbering.rank(state) == number
            least = rules.canonical(state)
            assert numbering.rank(least) <= number
            assert (numbering.rank(least) == number) == (least == state)
        assert numbering.unrank(numbering.size) == numbering.unrank(-1) == -1
        assert numbering.rank(1 << 62) == -1
        tiers = [rules.tier(numbering.unrank(first)) for first in numbering.firsts]
        assert tiers == sorted(tiers)


def test_orbits_of_nine_mens_morris_are_the_published_ones():
    """As many as Gasser's perfect hash has, with the orbits of the side that has more men (9,074,932,579)."""
    game = load_game("nine-mens-morris")
    counts = [len(orbits(layout_of(game), men).least) for men in range(8)]
    assert counts == [1, 4, 30, 158, 757, 2_830, 8_774, 22_188]
    counts += [46_879, 82_880]
    pairs = [(mine, theirs) for mine in range(3, 10) for theirs in range(3, 10)]
    assert sum(counts[max(pair)] * math.comb(24 - max(pair), min(pair)) for pair in pairs) == 9_074_932_579
    layout = layout_of(game)
    ends = [*(table.first for table in layout.tables[1:]), layout.size]
    sized = [(table, end - table.first) for table, end in zip(layout.tables, ends, strict=True)]
    moving = [size for table, size in sized if table.rest == 18 and min(table.mine, table.theirs) > 2]
    assert sum(moving) == 9_193_626_407


@pytest.mark.parametrize(
    ("symmetries", "tables", "message"),
    [
        ([(1, 0, 2), (0, 1)], [(0, 1, 1)], "each to another"),
        ([(0, 0, 1)], [(0, 1, 1)], "each to another"),
        ([], [(0, 1, 1)], "1 to 26 points"),
        ([tuple(range(27))], [(0, 1, 1)], "1 to 26 points"),
        ([(1, 2, 0)], [(0, 2, 2)], "3 points must hold the pieces"),
        ([(1, 2, 0)], [(4096, 1, 1)], "must be below 4096"),
        ([(1, 2, 0)], [(0, 1, 1), (0, 1, 1)], "twice"),
        ([(1, 2, 3, 4, 5, 0), (1, 0, 2, 3, 4, 5)], [(0, 1, 1)], "more than 64"),
    ],
)
def test_bad_symmetries_and_tables_are_refused(symmetries, tables, message):
    with pytest.raises(GameError, match=message):
        layout_of(type("Told", (), {"symmetries": symmetries.__iter__, "tables": tables.__iter__}))


def test_parents_that_lack_a_move_are_found(ring):
    assert check_game(ring(), playouts=20)
    raises(GameError, "parents yields it 0 times", check_game, ring(bug=" or target == 0"), playouts=20)


def test_a_solve_finds_parents_that_lack_a_move(tmp_path, monkeypatch, by_kernels, ring):
    """Even where random games did not: each solve looks at some states of every tier."""
    game = ring(bug=" or target == 0")
    monkeypatch.setattr(numbered, "CHECKED", 1000)
    raises(GameError, "parents yields it", pipeline.solve, game, tmp_path / "book.lmdb")


def test_what_arrays_cannot_take_is_sorted(tmp_path, monkeypatch, by_kernels, ring):
    game, said = ring(":8,3"), []  # its kernels are compiled with the limit of this test
    with monkeypatch.context() as context:
        sorting(context)
        pipeline.solve(game, tmp_path / "sorted.lmdb").close()
    monkeypatch.setattr(by_number, "MOST_PARENTS", 1)
    pipeline.solve(game, tmp_path / "book.lmdb", checkpoint=0, say=said.append).close()
    assert any("states are sorted: state" in line and "parents" in line for line in said)
    assert (tmp_path / "book.lmdb").read_bytes() == (tmp_path / "sorted.lmdb").read_bytes()
    assert not (tmp_path / "book.lmdb.work").exists()


def test_other_methods_mean_what_they_mean_elsewhere(tmp_path, monkeypatch, by_kernels, ring):
    """Retrograde analysis takes the game as one tier, and minimax no game that play comes back in."""
    game = ring()
    monkeypatch.setattr(numbered.ByNumber, "backward", None)
    with pipeline.solve(game, tmp_path / "one.lmdb", method="retrograde") as book:
        assert book.header.tiers is None
    raises(MethodError, "stays in its tier", pipeline.solve, game, method="minimax")


def test_a_checkpoint_is_of_the_arrays_that_were_chosen_first(tmp_path, monkeypatch, by_kernels, ring):
    game, path, stop = ring(), tmp_path / "book.lmdb", stopping_at("resolve")
    raises(Stopped, None, pipeline.solve, game, path, checkpoint=0, progress=stop)
    monkeypatch.setattr(resources, "by_number", lambda rules, codec: 1 << 62)
    monkeypatch.setattr(resources, "by_state", lambda rules, tiered: (1, 0))
    raises(ResourceError, "raise --memory, or --restart", pipeline.solve, game, path)


def test_too_many_positions_for_the_memory_are_refused_at_once(by_kernels):
    raises(ResourceError, "--wdl", pipeline.solve, "nine-mens-morris:7", memory=1 << 30)


def test_nobody_lists_all_positions_where_each_is_a_start(tmp_path, monkeypatch):
    """Of nine men's morris they are 27 billion."""
    monkeypatch.setattr(Rules, "roots", None)
    game = load_game("nine-mens-morris")
    assert site.entry_of("morris", game, None)["several"] is False
    assert layout_of_rules(Rules(game)) is not None
    assert Ranks.left_out(Rules(game)) in Ranks.LEFT_OUT


def test_among_drawn_moves_the_one_that_is_hardest_to_answer_is_played(tmp_path):
    """Where wins are led to their end, draws are not: there is nowhere to get to."""
    game = load_game("mu-torere")
    with pipeline.solve(game, tmp_path / "book.lmdb", wdl=True) as book:
        practical, best = Player(book, live=False, method="practical"), Player(book, live=False)
        scores = {state: value.score for state, value in naive.solve(game).items() if not game.is_terminal(state)}
        expected = [practical.choose(state).practical for state, score in [*scores.items()][::10] if score == 0]
        assert any(expected)
        wins = [state for state, score in scores.items() if score > 0]
        assert [practical.choose(state).action for state in wins] == [best.best(state) for state in wins] != []


@pytest.mark.parametrize("text", ["nine-mens-morris", *slow("nine-mens-morris:3")])
def test_positions_up_to_symmetry_are_as_many_as_burnside_counts(text):
    game = load_game(text)
    classes = oracles.placements([*game.symmetries()])
    assert classes[3, 3] == 169_626  # as published of the smallest table
    total = sum(classes[mine, theirs] for _, mine, theirs in game.tables())
    if text == "nine-mens-morris":
        # The whole solve counts as many (docs/reference/benchmarks.md), and with no men in hand
        assert total == 26_792_086_792
        assert sum(classes[mine, theirs] for mine in range(3, 10) for theirs in range(3, 10)) == 8_904_593_601
    else:
        assert pipeline.solve(text, wdl=True).states == total


DENSE = ["dots-and-boxes:2,1", "dots-and-boxes:2,2", "dots-and-boxes:3,2", "dots-and-boxes:1,4"]
# Climb one to three steps, or, from every fifth, `jump`; who cannot move loses. Every third number is a state
Sparse = ruled(
    "Sparse",
    fields="rise: int = 7\njump: int = 9\ntop: int = 40\nnumbers: int = 121",
    size="self.numbers",
    actions="for step in (1, 2, 3, self.jump):\n"
    "    if state // 3 + step <= self.top and (step < 4 or state // 3 % 5 == 4):\n        yield step",
    result="state + 3 * action",
    is_terminal="state == 3 * self.top",
    tier="state // 3 * self.rise // 7",
)


@pytest.mark.parametrize(
    ("text", "symmetry"),
    [(DENSE[0], True), *slow_rows(*itertools.product(DENSE[1:], (True, False)), (DENSE[0], False))],
)
def test_dense_and_sorted_books_are_the_same_bytes(tmp_path, monkeypatch, by_kernels, text, symmetry):
    with monkeypatch.context() as patch:
        patch.setattr(exhaustive, "Forward", never)
        pipeline.solve(text, tmp_path / "dense.lmdb", symmetry=symmetry).close()
    monkeypatch.setattr(resources, "DENSE_BYTES", 1 << 50)
    said = []
    pipeline.solve(text, tmp_path / "sorted.lmdb", symmetry=symmetry, say=said.append).close()
    assert (tmp_path / "dense.lmdb").read_bytes() == (tmp_path / "sorted.lmdb").read_bytes()
    assert len(said) == 1 and "states are sorted: arrays of " in said[0] and "--memory" in said[0]


@pytest.mark.parametrize(("rise", "span"), [(7, 64), *slow_rows((7, 1 << 20), (21, 8))])
def test_states_few_and_far_between_have_their_values(monkeypatch, rise, span):
    monkeypatch.setattr(arrays, "NUMBERS_PER_CALL", span)
    monkeypatch.setattr(exhaustive, "Forward", never)
    game = Sparse(rise=rise)
    solved = assert_is_the_truth(game)
    found = values(solved)
    assert solved.root == found[0]
    longest = max(value.distance for value in found.values() if value.score > 0)
    assert solved.longest == (longest, min(s for s, value in found.items() if value == (1, longest)))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"rise": 1}, "has a move that stays in its tier"),
        *slow_rows(({"jump": 260, "top": 300, "numbers": 901}, "more than 254 tiers")),
    ],
)
def test_games_that_arrays_cannot_take_are_sorted(options, reason):
    said = []
    game = Sparse(**options)
    solved = swept(game, say=said.append)
    assert said == [line for line in said if line.startswith("states are sorted: ") and reason in line] != []
    assert solved.root == naive.solve(game)[0]


def test_what_sorting_has_no_use_for_is_taken_from_the_folder(tmp_path):
    said = []
    game = Sparse(rise=1)
    folder = tmp_path / "work"
    with Work(folder, "one", every=0) as work:
        saved = work.column("array", np.uint8, numbered=True)  # as a checkpoint leaves it
        work.checkpoint(Checkpoint(arrays=ArrayState("ByState", marks=saved.name)))
        assert (folder / f"{saved.name}.column").exists()
        assert swept(game, work, say=said.append).root == naive.solve(game)[0]
        assert any("stays in its tier" in line for line in said)
        assert not [name for name in work.columns if name.startswith("array")]
        assert not list(folder.glob("array-*"))


# Take one or two of the coins; each taken from the heap with k left scores k + 1. Most points win
Rich = ruled(
    "Rich",
    fields="score_game = True\ncoins: int = 30",
    size="self.coins + 1",
    actions="yield from range(1, min(2, self.coins - state) + 1)",
    reward="state * action + action",
    is_terminal="state == self.coins",
    utility="0",
    tier="state",
)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_margins_beyond_a_byte_are_found_in_wider_arrays(monkeypatch, workers):
    monkeypatch.setattr(arrays, "NUMBERS_PER_CALL", 8)
    monkeypatch.setattr(exhaustive, "Forward", never)
    kinds, wider = [], scale.wider
    monkeypatch.setattr(scale, "wider", lambda *given: kinds.append(wider(*given)) or kinds[-1])
    solved, best = swept(Rich(230), workers=workers), [0] * 231
    for state in reversed(range(230)):
        best[state] = max((state + 1) * step - best[state + step] for step in (1, 2) if state + step <= 230)
    assert solved.root.score == best[0] and len(kinds) == 1 and max(map(abs, best)) > 127
    assert {state: value.score for state, value in values(solved).items()} == dict(enumerate(best[:-1]))


def test_a_disk_too_small_for_the_book_is_refused_before_values_are_sought(tmp_path, monkeypatch, by_kernels):
    monkeypatch.setattr(Work, "free", lambda self: 10)
    monkeypatch.setattr(arrays.ByState, "backward", never)
    with pytest.raises(ResourceError, match="the values of 4,095 states and their book need about 6,142 bytes more"):
        pipeline.solve("dots-and-boxes:2,2", tmp_path / "book.lmdb", symmetry=False)
    raises(Stopped, None, pipeline.solve, "dots-and-boxes:2,2", tmp_path / "book.lmdb", symmetry=False, anyway=True)


def test_a_state_beyond_size_is_refused():
    raises(GameError, "not below size", swept, Sparse(numbers=20))
    raises(GameError, "starts at 0, and size", swept, Sparse(numbers=0))


@pytest.mark.parametrize("text", [DENSE[0], *slow(DENSE[1])])
def test_a_solve_by_state_goes_on_wherever_it_was_stopped(tmp_path, by_kernels, text):
    said = []
    assert stops_until_solved(text, tmp_path, say=said.append) > 5
    assert any("tiers counted" in line for line in said)


def test_a_checkpoint_of_arrays_wants_the_memory_for_them(tmp_path):
    game = load_game("dots-and-boxes:2,2")
    with pytest.raises(Stopped), Work(tmp_path / "work", "one", every=0) as work:
        swept(game, work, progress=stopping_at("backward"))
    with pytest.raises(ResourceError, match="raise --memory, or --restart"), Work(tmp_path / "work", "one") as work:
        swept(game, work, memory=1000)
    with Work(tmp_path / "work", "one") as work:
        assert swept(game, work).root.score == 2


@pytest.mark.slow
def test_an_estimate_knows_of_arrays():
    dense = estimation.of_sweep(load_game("dots-and-boxes:2,2"), symmetry=False, seconds=math.inf)
    assert (dense.stored, dense.memory, dense.disk) == (4095, (150 << 20) + 3 * 4096, round(1.5 * 4095))
    assert dense.by_state and "less with --memory, and then more time and disk" in searches.sweep_text(facts_of(dense))
