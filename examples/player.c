// A perfect player of connect-four in C, without Python and without a runtime of WebAssembly: ./player 4 4 3
//
//     solver build connect-four -o game.wasm
//     wasm2c game.wasm -n game -o game.c        # tried with wabt 1.0.32; names of later ones, untried: see below
//     cc -O2 -I. examples/player.c game.c -lwasm-rt-impl -lm -o player
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "game.h"

#define CALL(name) Z_gameZ_##name                  // w2c_game_##name
typedef Z_game_instance_t Game;                    // w2c_game
#define INSTANTIATE(game) (Z_game_init_module(), Z_game_instantiate(game))  // wasm2c_game_instantiate(game)
enum { PAGE = 65536, ROOM = 69632, WORDS = 7168, WIN = 8388607 };  // WIN: `win` of the module's facts

// The merit of a state: 0 a draw, WIN - d a win in d plies, d - WIN a loss.
static int64_t merit(Game *game, uint64_t state) {
    if (CALL(is_terminal)(game, state)) return (int64_t)CALL(utility)(game, state) * WIN;
    CALL(begin)(game, state, (uint64_t)-WIN, WIN);
    while (CALL(go_on)(game, 1 << 16) == 0)
        ;  // here a host looks at its clock
    return (int64_t)CALL(found)(game);
}

int main(int count, char **moves) {
    Game game;
    wasm_rt_init();
    INSTANTIATE(&game);
    wasm_rt_memory_t *memory = CALL(memory)(&game);
    uint64_t needed = CALL(lay_out)(&game, 1024, 1 << 15, 1 << 23);
    wasm_rt_grow_memory(memory, (needed - memory->size + PAGE - 1) / PAGE);
    CALL(forget)(&game);
    uint64_t state = CALL(initial)(&game), actions[WORDS];
    for (int at = 1; at < count; at++) state = CALL(result)(&game, state, strtoull(moves[at], NULL, 10) - 1);
    uint64_t wide = CALL(is_terminal)(&game, state) ? 0 : CALL(actions)(&game, state, ROOM, WORDS);
    memcpy(actions, memory->data + ROOM, 8 * wide);
    printf("merit %" PRId64 "\n", merit(&game, state));
    for (uint64_t at = 0; at < wide; at++) {
        int64_t child = -merit(&game, CALL(result)(&game, state, actions[at]));  // a ply earlier: nearer to 0 by one
        printf("%" PRIu64 " %" PRId64 "\n", actions[at] + 1, child - (child > 0) + (child < 0));
    }
}
