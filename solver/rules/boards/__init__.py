"""Boards as pictures: the rules' `cells` and `drawing` as SVG.

`layout` places the cells, `surfaces` and `men` draw them with the `shapes` of SVG, and `scene` adds the values of
moves. `text` asks the rules for the cells and prints them, and `typed` reads boards. A page draws the same boards in
JavaScript (`web/site/`). Figures and colours are equal: `tests/play/test_boards.py` compares them. Everything is plain
Python.
"""
