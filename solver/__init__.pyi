# The public names, in reading order, for type checkers. `__init__.py` lists them, too, and imports each name when
# somebody asks for it.

from solver.base.errors import BookError as BookError
from solver.base.errors import BudgetExceeded as BudgetExceeded
from solver.base.errors import DamagedBook as DamagedBook
from solver.base.errors import ForeignBook as ForeignBook
from solver.base.errors import GameError as GameError
from solver.base.errors import MethodError as MethodError
from solver.base.errors import MissingState as MissingState
from solver.base.errors import PositionError as PositionError
from solver.base.errors import ResourceError as ResourceError
from solver.base.errors import SolverError as SolverError
from solver.base.errors import Unproved as Unproved
from solver.base.value import Solution as Solution
from solver.base.value import Value as Value
from solver.book import Book as Book
from solver.book import Trim as Trim
from solver.book.check import check_book as check_book
from solver.book.streaming import pack as pack
from solver.cli.common import Bars as Bars
from solver.edit.comparing import diff as diff
from solver.edit.comparing import merge as merge
from solver.edit.comparing import sample as sample
from solver.edit.trimming import trim as trim
from solver.play.analysis import Answer as Answer
from solver.play.analysis import Move as Move
from solver.play.analysis import Moves as Moves
from solver.play.analysis import Outcome as Outcome
from solver.play.board import board as board
from solver.play.grading import grade as grade
from solver.play.player import Player as Player
from solver.profiling import Profile as Profile
from solver.profiling import profile as profile
from solver.puzzles import Puzzle as Puzzle
from solver.puzzles import find_puzzles as find_puzzles
from solver.puzzles import score_answer as score_answer
from solver.rules.game import Game as Game
from solver.rules.game import load_game as load_game
from solver.rules.notation import format_action as format_action
from solver.rules.notation import parse_action as parse_action
from solver.rules.notation import show as show
from solver.rules.reading import position as position
from solver.solving.pipeline import check_game as check_game
from solver.solving.pipeline import prove as prove
from solver.solving.pipeline import solve as solve
from solver.verifying.verification import verify as verify

__version__: str
