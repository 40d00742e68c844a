/*
 * What pytest asks of solverbook.h.
 *
 *     reader ask FILE            of each state on standard input, a line each: "score distance estimate", or "code N"
 *     reader wide FILE           the same of states in hexadecimal, two digits a byte, the lowest byte first
 *     reader damage FILE COUNT   COUNT altered copies: each look-up fails, or has the value of the whole file; and as many
 *                                whose checksums are mended, which may say anything but must not read outside
 *     reader time FILE COUNT     COUNT look-ups of the states on standard input, a second
 */
#define SOLVERBOOK_IMPLEMENTATION
#include "solverbook.h"
#include <time.h>

static uint64_t seed = 88172645463325252u;

static uint64_t chance(uint64_t most) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % most;
}

static void say(int code, const solverbook_value *value) {
    if (code == SOLVERBOOK_FOUND) printf("%.17g %lld %d\n", value->score, (long long)value->distance, value->is_estimate);
    else printf("code %d\n", code);
}

static void put32(unsigned char *at, uint32_t number) {
    int byte;
    for (byte = 0; byte < 4; byte++) at[byte] = (unsigned char)(number >> 8 * byte);
}

static void reseal(unsigned char *bytes, uint64_t number, unsigned char *record, uint64_t size) {
    unsigned char tag[16] = {0};
    memcpy(tag, bytes + 32, 8);
    put32(tag + 8, (uint32_t)number);
    put32(record, sb_crc32(record + 4, size - 4, sb_crc32(tag, 16, 0)));
}

/* Mend all checksums, as far as the parts still lie in the file. */
static void mend(unsigned char *bytes, size_t size) {
    uint64_t sizes[3], at = 64, part, segments, states;
    if (size < 64) return;
    put32(bytes + 60, sb_crc32(bytes, 60, 0));
    states = sb_u32(bytes + 56) ? sb_u32(bytes + 56) : 8;
    segments = sb_u32(bytes + 48);
    sizes[0] = sb_u32(bytes + 40);
    sizes[1] = 4 + (uint64_t)16 * sb_u32(bytes + 44);
    sizes[2] = 4 + (states + 8) * segments;
    if (sizes[0] < 4 || 64 + sizes[0] + sizes[1] + sizes[2] > size) return;
    for (part = 0; part < 3; at += sizes[part++]) reseal(bytes, part, bytes + at, sizes[part]);
    for (part = 0; part < segments; part++) {
        unsigned char *entry = bytes + at - sizes[2] + 4 + part * (states + 8);
        uint64_t begin = sb_u64(entry + states), next = part + 1 < segments ? sb_u64(entry + 2 * states + 8) : size;
        if (begin < next && next <= size && next - begin >= 4) reseal(bytes, part, bytes + begin, next - begin);
    }
}

static int damage(const char *path, long count) {
    solverbook whole, altered;
    solverbook_value value, wanted;
    long number;
    if (solverbook_load(&whole, path)) return 1;
    for (number = 0; number < 2 * count; number++) {
        size_t size = (size_t)whole.size;
        unsigned char *copy;
        int flips = 1 + (int)chance(4), ask;
        if (chance(8) == 0) size = (size_t)chance(whole.size);
        copy = (unsigned char *)malloc(size ? size : 1);
        memcpy(copy, whole.bytes, size);
        while (flips-- && size) copy[chance(4) ? chance(size) : chance(size < 200 ? size : 200)] ^= (unsigned char)(1 + chance(255));
        if (number >= count) mend(copy, size);
        if (solverbook_open(&altered, copy, size) == SOLVERBOOK_OK) {
            for (ask = 0; ask < 40; ask++) {
                uint32_t segment = (uint32_t)chance(whole.segments);
                uint64_t state = sb_u64(sb_entry(&whole, segment)) + chance(300);
                int code = solverbook_get(&altered, state, &value);
                int right = solverbook_get(&whole, state, &wanted);
                if (number >= count || code < 0) continue;
                if (code != right || (code == SOLVERBOOK_FOUND && (value.score != wanted.score || value.distance != wanted.distance))) {
                    printf("copy %ld, state %llu: %d in place of %d\n", number, (unsigned long long)state, code, right);
                    return 1;
                }
            }
        }
        solverbook_close(&altered);
        free(copy);
    }
    solverbook_close(&whole);
    printf("ok\n");
    return 0;
}

static int timed(solverbook *book, long count) {
    uint64_t *states = (uint64_t *)malloc(sizeof(uint64_t) * 1000000);
    solverbook_value value;
    unsigned long long state;
    long number = 0, place;
    double sum = 0;
    clock_t begin;
    while (number < 1000000 && scanf("%llu", &state) == 1) states[number++] = state;
    solverbook_check(book);
    begin = clock();
    for (place = 0; place < count; place++) {
        if (solverbook_get(book, states[place % number], &value) == SOLVERBOOK_FOUND) sum += value.score;
    }
    printf("%.0f %g\n", count / ((double)(clock() - begin) / CLOCKS_PER_SEC), sum);
    free(states);
    return 0;
}

int main(int argc, char **argv) {
    solverbook book;
    solverbook_value value;
    unsigned long long state;
    char digits[140];
    int code;
    if (argc == 4 && !strcmp(argv[1], "damage")) return damage(argv[2], atol(argv[3]));
    if (argc < 3) return 2;
    code = solverbook_load(&book, argv[2]);
    if (code) {
        printf("code %d %s\n", code, solverbook_message(code));
        return 1;
    }
    if (!strcmp(argv[1], "time") && argc == 4) timed(&book, atol(argv[3]));
    else if (!strcmp(argv[1], "wide")) {
        while (scanf("%139s", digits) == 1) {
            unsigned char bytes[70] = {0};
            size_t size = strlen(digits) / 2, at;
            for (at = 0; at < size; at++) {
                unsigned byte;
                sscanf(digits + 2 * at, "%2x", &byte);
                bytes[at] = (unsigned char)byte;
            }
            code = solverbook_get_wide(&book, bytes, size, &value);
            say(code, &value);
        }
    } else {
        while (scanf("%llu", &state) == 1) {
            code = solverbook_get(&book, state, &value);
            say(code, &value);
        }
    }
    solverbook_close(&book);
    return 0;
}
