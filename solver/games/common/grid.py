"""Code that games on boards of width x height cells share.

Cells are numbered row by row from the bottom left. A set of cells is an int, a bit for each; a state is so many planes
of them, one above the other. Images are of all planes at once, and of nothing above them.
"""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def refuse(width: int, height: int, most: int) -> None:
    """Raise ValueError for a board of more than `most` cells, or whose columns have no letters."""
    if width < 1 or height < 1 or width > len(LETTERS):
        raise ValueError("width and height must be at least 1, width at most 26 to have letters")
    if width * height > most:
        raise ValueError(f"width * height must be at most {most}")


def full(width: int, height: int) -> int:
    return (1 << width * height) - 1


def column(width: int, height: int) -> int:
    """The first column."""
    return ((1 << width * height) - 1) // ((1 << width) - 1)


def beside(width: int, height: int, cells: int) -> int:
    """The neighbours of cells along rows and columns."""
    first = column(width, height)
    found = (cells & ~first) >> 1 | (cells & ~(first << width - 1)) << 1 | cells >> width | cells << width
    return found & full(width, height)


def step(width: int, height: int, cells: int, across: int, up: int) -> int:
    """The cells one step on, those that leave the board dropped."""
    first = column(width, height)
    if across > 0:
        cells = (cells & ~(first << width - 1)) << 1
    elif across < 0:
        cells = (cells & ~first) >> 1
    if up > 0:
        return cells << width & full(width, height)
    return cells >> width if up < 0 else cells


def has_line(width: int, height: int, length: int, state: int) -> bool:
    """Whether so many cells of the lowest plane are next to each other in a row, a column or a diagonal."""
    cells = state & full(width, height)
    for across in range(2):
        for up in range(-1, 2):
            if across + up > 0 or (across > 0 and up < 0):
                run = cells
                for _ in range(length - 1):
                    run = cells & step(width, height, run, across, up)
                if run:
                    return True
    return False


def mirrored(width: int, height: int, planes: int, state: int) -> int:
    """Left and right exchanged."""
    first = column(width, height * planes)
    result = 0
    for i in range(width):
        result |= (state >> i & first) << width - 1 - i
    return result


def flipped(width: int, height: int, planes: int, state: int) -> int:
    """Top and bottom exchanged."""
    rows = ((1 << planes * width * height) - 1) // full(width, height) * ((1 << width) - 1)
    result = 0
    for i in range(height):
        result |= (state >> i * width & rows) << (height - 1 - i) * width
    return result


def transposed(width: int, planes: int, state: int) -> int:
    """Rows and columns of a square board exchanged."""
    cells = ((1 << planes * width * width) - 1) // full(width, width)
    result = 0
    for i in range(width * width):
        result |= (state >> i & cells) << i % width * width + i // width
    return result


def least_flip(width: int, height: int, planes: int, state: int) -> int:
    """The least of a state, its reflections and its half turn."""
    other = flipped(width, height, planes, state)
    first = min(state, mirrored(width, height, planes, state))
    return min(first, min(other, mirrored(width, height, planes, other)))


def least(width: int, height: int, planes: int, state: int) -> int:
    """The least of the board's four images, or of the eight of a square one."""
    found = least_flip(width, height, planes, state)
    if width == height:
        found = min(found, least_flip(width, height, planes, transposed(width, planes, state)))
    return found


def name(width: int, cell: int) -> str:
    return LETTERS[cell % width] + str(cell // width + 1)


def rows(width: int, height: int, marks: str) -> list[str]:
    """The rows from the top, of the marks of all cells."""
    return [marks[i * width : (i + 1) * width] for i in range(height - 1, -1, -1)]


def board(width: int, height: int, state: int, marks: str) -> list[str]:
    """The rows from the top of a state that has a plane of cells for each of these marks, the lowest first."""
    found = ["."] * (width * height)
    for cell in range(width * height):
        for plane in range(len(marks)):
            if state >> plane * width * height + cell & 1:
                found[cell] = marks[plane]
    return rows(width, height, "".join(found))


def place(width: int, height: int, cell: int) -> int:
    """A cell's number from the top left."""
    return (height - 1 - cell // width) * width + cell % width
