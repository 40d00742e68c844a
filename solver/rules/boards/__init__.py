"""Boards as pictures: the rules' `cells` and `drawing` as a few plain shapes that know no file format.

`cells` reads the rules, `layout` places the cells, `surfaces` and `men` make the shapes, `scene` puts them together
with the values of moves, and `svg` writes them. A page draws the same boards in JavaScript (`web/site/`). Figures and
colours are equal: `tests/play/test_boards.py` compares them. Everything is plain Python.
"""
