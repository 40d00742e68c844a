"""Boards as pictures: the rules' `cells` and `drawing` as SVG.

`text` asks the rules for the cells, and prints them. `surfaces` places and draws them, with the shapes, pieces and
colours of `looks`, and `scene` adds the values of moves. A page draws the same boards in JavaScript (`web/site/`).
Figures and colours are equal: `tests/play/test_boards.py` compares them. Everything is plain Python.
"""
