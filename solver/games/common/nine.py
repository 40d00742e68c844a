"""Planes of 3 x 3 cells, nine bits each, row by row from the bottom left; and their symmetries."""


def least(cells: int, planes: int) -> int:
    """The least of the board's eight images; planes: the lowest bit of each plane."""
    corner, below, edges = planes * 0o004, planes * 0o042, planes * 0o421
    other = cells & edges | (cells & below) << 2 | cells >> 2 & below
    other |= (cells & corner) << 4 | cells >> 4 & corner
    return min(_least_of_four(cells, planes), _least_of_four(other, planes))


def _least_of_four(cells: int, planes: int) -> int:
    """The least of a board, its mirror images left to right and top to bottom, and both."""
    left, middle = planes * 0o111, planes * 0o222
    mirrored = (cells & left) << 2 | cells & middle | cells >> 2 & left
    return min(min(cells, mirrored), min(_upturned(cells, planes), _upturned(mirrored, planes)))


def _upturned(cells: int, planes: int) -> int:
    bottom, row = planes * 0o007, planes * 0o070
    return (cells & bottom) << 6 | cells & row | cells >> 6 & bottom
