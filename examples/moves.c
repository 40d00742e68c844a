/*
 * Every move of a position of connect-four 4x4 with its value, by a book and solverbook.h: ./moves c4.bin 1 1 2
 *
 *     solver export connect-four:4,4 -o c4.bin
 *     solver export --reader c -o include
 *     cc -I include examples/moves.c -o moves
 *
 * The book tells values and no rules. So an app brings three things of its own: where a move leads, when the game is
 * over, and `canonical`, which picks one of a position and its mirror image. Take them from the game's file in solver/games.
 */
#define SOLVERBOOK_IMPLEMENTATION
#include "solverbook.h"

enum { SIZE = 4, BITS = SIZE + 1 }; /* each column has a guard bit above its top stone */
static const uint64_t BOTTOM = 0x8421, COLUMN = 0x1f;

/* The squares with a stone: below the guard, the highest bit of each column. */
static uint64_t occupied(uint64_t state) {
    uint64_t filled = 0;
    for (int at = 0; at < SIZE * BITS; at += BITS)
        for (uint64_t rest = (state >> at & COLUMN) >> 1, bit = 1; rest; rest >>= 1, bit <<= 1) filled |= bit << at;
    return filled;
}

/* Whether the stones have four in a row: upward, across, and on both diagonals. */
static int has_line(uint64_t stones) {
    static const int steps[] = {1, BITS, BITS - 1, BITS + 1};
    for (int at = 0; at < 4; at++)
        if (stones & stones >> steps[at] & stones >> 2 * steps[at] & stones >> 3 * steps[at]) return 1;
    return 0;
}

static int is_legal(uint64_t state, int column) { return !(occupied(state) >> (column * BITS + SIZE - 1) & 1); }

static uint64_t result(uint64_t state, int column) {
    uint64_t filled = occupied(state), guards = filled + BOTTOM;
    return (filled & ~state) + guards + (guards & COLUMN << column * BITS);
}

static uint64_t canonical(uint64_t state) {
    uint64_t mirrored = 0;
    for (int at = 0; at < SIZE; at++) mirrored |= (state >> at * BITS & COLUMN) << (SIZE - 1 - at) * BITS;
    return state < mirrored ? state : mirrored;
}

int main(int count, char **words) {
    solverbook book;
    uint64_t state = BOTTOM;
    int code = count > 1 ? solverbook_load(&book, words[1]) : SOLVERBOOK_NO_FILE;
    if (code != SOLVERBOOK_OK) return puts(solverbook_message(code)), 1;
    for (int at = 2; at < count; at++) state = result(state, atoi(words[at]) - 1);
    for (int column = 0; column < SIZE; column++) {
        if (!is_legal(state, column)) continue;
        uint64_t child = result(state, column), filled = occupied(child);
        solverbook_value value = {0, 0, 0}; /* a full board without a line is a draw */
        if (has_line(filled & ~child)) value.score = -1; /* the book stores no finished states */
        else if (filled != BOTTOM * 15) {
            code = solverbook_get(&book, canonical(child), &value);
            if (code != SOLVERBOOK_FOUND) return puts(solverbook_message(code)), 1;
        }
        /* A value is for the side to move, which after the move is the other one. */
        printf("%d %s", column + 1, value.score < 0 ? "win" : value.score > 0 ? "loss" : "draw");
        if (value.score) printf(" in %d", (int)value.distance + 1);
        puts("");
    }
    solverbook_close(&book);
    return 0;
}
