"""Boards as pictures: the rules' `cells` and `drawing` as SVG.

`cells` reads the rules, `layout` places the cells, `surfaces` and `men` make the shapes, `scene` puts them together
with the values of moves, and `shapes` writes them as SVG. A page draws the same boards in JavaScript (`web/site/`). Figures and
colours are equal: `tests/play/test_boards.py` compares them. Everything is plain Python.
"""
