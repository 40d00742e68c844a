/**
 * How the cells of boards lie, in cells: the first one's centre, the steps between centres, how far each row is moved to
 * the right of the one above, and what is left behind the last. `size` is a cell's; `pad` and `edge` are the units around
 * the cells, within the surface and outside of it; `given` is the pad where the rules give the centres. All boards that
 * are not listed lie as `squares`. The page (layout.js) and pictures made in Python (solver/rules/boards/surfaces.py) both
 * read it: the object is JSON.
 */

export const GRIDS = {
  "squares": {"x": 0.5, "y": 0.5, "dx": 1, "dy": 1, "slant": 0, "right": 0.5, "bottom": 0.5, "size": 1, "pad": 0, "edge": 14},
  "points": {"x": 0.5, "y": 0.5, "dx": 1, "dy": 1, "slant": 0, "right": 0.5, "bottom": 0.5, "size": 0.94, "pad": 6, "edge": 0, "given": 24},
  "tray": {"x": 0.5, "y": 0.5, "dx": 1, "dy": 1, "slant": 0, "right": 0.5, "bottom": 0.5, "size": 1, "pad": 8, "edge": 0, "given": 8},
  "hexagons": {"x": 0.5, "y": 0.577, "dx": 1, "dy": 0.866, "slant": 0.5, "right": 0.5, "bottom": 0.578, "size": 0.86, "pad": 22, "edge": 0},
  "pits": {"x": 1.6, "y": 0.55, "dx": 1, "dy": 1.1, "slant": 0, "right": 1.6, "bottom": 0.55, "size": 0.98, "pad": 16, "edge": 0},
  "track": {"x": 0.5, "y": 0.6, "dx": 1, "dy": 0, "slant": 0, "right": 0.5, "bottom": 0.72, "size": 1, "pad": 16, "edge": 0},
  "piles": {"x": 0.45, "y": 0.57, "dx": 0.9, "dy": 1.15, "slant": 0, "right": 0.45, "bottom": 0.58, "size": 0.88, "pad": 14, "edge": 0}
};
