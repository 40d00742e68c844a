/**
 * Pieces as shapes about the middle of a cell of 100 by 100. The page (pieces.js) and pictures made in Python
 * (solver/rules/boards/looks.py) both draw them: the object is JSON.
 *
 *     ["path", outline, class]   ["circle", x, y, radius, class]   ["rect", x, y, width, height, class, radius]
 *     ["words", x, y, text, size, class]
 *
 * Pieces that are not listed are a `tile` with their name on it. Of animals the dots say where they may go, ahead being up
 * for the first player: those of the class "step" are turned over for the second.
 */

export const FIGURES = {
  "pawn": [
    ["path", "M0-31a12 12 0 0 1 7.5 21.5q10 4 11 9.5h-9.5q1 13 9 24h-36q8-11 9-24h-9.5q1-5.5 11-9.5a12 12 0 0 1 7.5-21.5z", "body"],
    ["path", "M-27 37v-6q0-6 7-7h40q7 1 7 7v6z", "body"]
  ],
  "rook": [
    ["path", "M-25-33h11v7h8v-7h12v7h8v-7h11v16l-8 7 3 34h-40l3-34-8-7z", "body"],
    ["path", "M-27 37v-6q0-6 7-7h40q7 1 7 7v6z", "body"]
  ],
  "bishop": [
    ["path", "M0-41a5 5 0 0 1 3 9q17 12 16 27-1 9-8 13l4 16h-30l4-16q-7-4-8-13-1-15 16-27a5 5 0 0 1 3-9z", "body"],
    ["path", "M-27 37v-6q0-6 7-7h40q7 1 7 7v6z", "body"],
    ["path", "M0-20v14M-7-13h14", "line"]
  ],
  "queen": [
    ["path", "M-34-22q7-2 8 3l8 12 3-23q-3-8 3-8t4 6l8 20 8-20q-2-6 4-6t3 8l3 23 8-12q1-5 8-3l-11 46h-46z", "body"],
    ["path", "M-27 37v-6q0-6 7-7h40q7 1 7 7v6z", "body"],
    ["path", "M-20 12q20-6 40 0", "line"]
  ],
  "king": [
    ["path", "M-3-45h6v7h7v6h-7v8q27-9 27 8 0 13-12 22l2 18h-40l2-18q-12-9-12-22 0-17 27-8v-8h-7v-6h7z", "body"],
    ["path", "M-27 37v-6q0-6 7-7h40q7 1 7 7v6z", "body"],
    ["path", "M-18 8q18-6 36 0M0-22v22", "line"]
  ],
  "knight": [
    ["path", "M-19 24q-1-15 10-24-9 0-15 8-6 2-10-5 1-16 15-25l3-13 9 7q22 1 28 22 5 16 1 30z", "body"],
    ["path", "M-27 37v-6q0-6 7-7h40q7 1 7 7v6z", "body"],
    ["path", "M-9-16l1 1", "line"]
  ],
  "disc": [["circle", 0, 3, 38, "shade"], ["circle", 0, 0, 38, "body"], ["circle", 0, 0, 27, "groove"]],
  "crowned": [
    ["circle", 0, 3, 38, "shade"],
    ["circle", 0, 0, 38, "body"],
    ["circle", 0, 0, 27, "groove"],
    ["path", "M-16 12l-4-24 11 9 9-15 9 15 11-9-4 24z", "emblem"]
  ],
  "coin": [
    ["circle", 0, 3, 36, "shade"],
    ["circle", 0, 0, 36, "body"],
    ["circle", 0, 0, 27, "groove"],
    ["words", 0, 1, "\u2605", 30, "emblem"]
  ],
  "cross": [["path", "M-27-27L27 27M27-27L-27 27", "stroke"]],
  "ring": [["circle", 0, 0, 28, "stroke"]],
  "block": [["rect", -47, -47, 94, 94, "body", 10]],
  "fox": [
    ["path", "M-36-34q14 2 20 12 16-5 32 0 6-10 20-12 3 22-3 34-8 22-33 36-25-14-33-36-6-12-3-34z", "body"],
    ["path", "M-33 0q16-2 22 12 5 12 11 24-25-14-33-36zM33 0q-16-2-22 12-5 12-11 24 25-14 33-36z", "cheek"],
    ["circle", -14, -4, 4.5, "eye"],
    ["circle", 14, -4, 4.5, "eye"],
    ["circle", 0, 29, 5.5, "eye"]
  ],
  "hound": [
    ["path", "M-20-28q20-10 40 0 12 10 10 30-2 26-30 34-28-8-30-34-2-20 10-30z", "body"],
    ["path", "M-22-28q-18 2-17 24 1 15 10 17 5-8 5-20 0-12 2-21zM22-28q18 2 17 24-1 15-10 17-5-8-5-20 0-12-2-21z", "ear"],
    ["circle", -12, -6, 4.5, "eye"],
    ["circle", 12, -6, 4.5, "eye"],
    ["path", "M-9 12q9-6 18 0-2 10-9 10t-9-10z", "eye"],
    ["path", "M0 21v6", "line"]
  ],
  "hare": [
    ["path", "M-18-4q-12-36 0-40 12 2 14 34h8q2-32 14-34 12 4 0 40 12 8 10 22-4 20-28 20t-28-20q-2-14 10-22z", "body"],
    ["path", "M-13-14q-4-20 0-24 5 4 6 24zM13-14q4-20 0-24-5 4-6 24z", "cheek"],
    ["circle", -11, 8, 4.5, "eye"],
    ["circle", 11, 8, 4.5, "eye"],
    ["path", "M-5 19h10l-5 6z", "eye"]
  ],
  "chick": [
    ["rect", -42, -39, 84, 84, "shade", 14],
    ["rect", -42, -42, 84, 84, "body", 14],
    ["circle", 0, -32, 5, "emblem step"],
    ["words", 0, 2, "C", 42, "emblem letter"]
  ],
  "hen": [
    ["rect", -42, -39, 84, 84, "shade", 14],
    ["rect", -42, -42, 84, 84, "body", 14],
    ["circle", 0, -32, 5, "emblem step"],
    ["circle", -32, 0, 5, "emblem step"],
    ["circle", 32, 0, 5, "emblem step"],
    ["circle", 0, 32, 5, "emblem step"],
    ["circle", -32, -32, 5, "emblem step"],
    ["circle", 32, -32, 5, "emblem step"],
    ["words", 0, 2, "H", 42, "emblem letter"]
  ],
  "giraffe": [
    ["rect", -42, -39, 84, 84, "shade", 14],
    ["rect", -42, -42, 84, 84, "body", 14],
    ["circle", 0, -32, 5, "emblem step"],
    ["circle", -32, 0, 5, "emblem step"],
    ["circle", 32, 0, 5, "emblem step"],
    ["circle", 0, 32, 5, "emblem step"],
    ["words", 0, 2, "G", 42, "emblem letter"]
  ],
  "elephant": [
    ["rect", -42, -39, 84, 84, "shade", 14],
    ["rect", -42, -42, 84, 84, "body", 14],
    ["circle", -32, -32, 5, "emblem step"],
    ["circle", 32, -32, 5, "emblem step"],
    ["circle", -32, 32, 5, "emblem step"],
    ["circle", 32, 32, 5, "emblem step"],
    ["words", 0, 2, "E", 42, "emblem letter"]
  ],
  "lion": [
    ["rect", -42, -39, 84, 84, "shade", 14],
    ["rect", -42, -42, 84, 84, "body", 14],
    ["circle", 0, -32, 5, "emblem step"],
    ["circle", -32, 0, 5, "emblem step"],
    ["circle", 32, 0, 5, "emblem step"],
    ["circle", 0, 32, 5, "emblem step"],
    ["circle", -32, -32, 5, "emblem step"],
    ["circle", 32, -32, 5, "emblem step"],
    ["circle", -32, 32, 5, "emblem step"],
    ["circle", 32, 32, 5, "emblem step"],
    ["words", 0, 2, "L", 42, "emblem letter"]
  ],
  "tile": [
    ["rect", -38, -35, 76, 76, "shade", 16],
    ["rect", -38, -38, 76, 76, "body", 16],
    ["words", 0, 2, "", 46, "emblem letter"]
  ]
};
