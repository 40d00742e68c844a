/*
 * solverbook.h reads the .bin books that `solver export BOOK -o FILE.bin` writes. C99, no dependencies.
 *
 * In one C file of your program:
 *
 *     #define SOLVERBOOK_IMPLEMENTATION
 *     #include "solverbook.h"
 *
 * and wherever you ask a book:
 *
 *     solverbook book;
 *     solverbook_value value;
 *     if (solverbook_load(&book, "connect-four.bin") != SOLVERBOOK_OK) ...
 *     if (solverbook_get(&book, 33825, &value) == SOLVERBOOK_FOUND) printf("%g in %lld\n", value.score, value.distance);
 *     solverbook_close(&book);
 *
 * A book knows states, whole numbers below 2^63, and values for the side to move. It has no rules. Your program finds where
 * a move leads and whether the game is over, since finished states are not stored. If the facts say "symmetry":true, the
 * book stores only one of the states that are images of each other: pass what the rules' `canonical` gives, or solve
 * with --no-symmetry. Write these functions as the game's file in Python has them (examples/moves.c does), or make C of
 * the game's module: `solver build GAME -o game.wasm`, then wasm2c (examples/player.c). Books in the
 * codec `ranked` hold no states, so this reader refuses them: `solver pack --codec compact` changes that. States of more
 * than 63 bits are asked by `solverbook_get_wide`.
 *
 * Nothing wrong is answered. Each part of the file has a checksum, which is compared when the part is first used, and no
 * byte is read outside of the part. Threads may share a book after `solverbook_check`, which reads all of it; before that
 * only one thread may ask it at a time.
 *
 * The format is described, byte by byte, in docs/reference/format.md of solverbook.
 */

#ifndef SOLVERBOOK_H
#define SOLVERBOOK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SOLVERBOOK_MISSING = 0,   /* the book has no such state */
    SOLVERBOOK_FOUND = 1,     /* the value is known */
    SOLVERBOOK_OK = 0,        /* of functions that do not look anything up */
    SOLVERBOOK_DAMAGED = -1,  /* the file is cut off, altered, or no book */
    SOLVERBOOK_UNKNOWN = -2,  /* its format or codec is not known to this reader */
    SOLVERBOOK_RANKED = -3,   /* its codec is `ranked` */
    SOLVERBOOK_NO_FILE = -4,  /* the file cannot be read */
    SOLVERBOOK_NO_MEMORY = -5, /* there is too little memory */
    SOLVERBOOK_OLD = -6       /* it is older than format 1 */
};

typedef struct {
    double score;     /* 1, 0, -1; a margin, rounded beyond 2^53; a nimber; in games of chance an expectation */
    int64_t distance; /* plies to the end, or -1 where that means nothing or is not known */
    int is_estimate;  /* whether the score is an estimate: in grown books alone */
} solverbook_value;

typedef struct {
    const unsigned char *bytes; /* the whole file */
    uint64_t size;
    uint64_t stored;   /* states with a value */
    const char *facts; /* what the book says of itself: JSON in ASCII, `facts_size` bytes, without a 0 behind */
    uint32_t facts_size;
    /* what follows is private */
    const unsigned char *palette;   /* 16 bytes a value */
    const unsigned char *directory; /* of each segment its first state and its place in the file */
    uint32_t codec, values, segments, index_bytes, state_bytes;
    int has_estimates;
    double step;            /* of expectations */
    unsigned char *checked; /* for each segment whether it was found to be whole */
    unsigned char *owned;   /* the file, if this reader has read it */
} solverbook;

/* Open a book in memory, which must stay as it is until the book is closed. */
int solverbook_open(solverbook *book, const void *bytes, size_t size);

/* Read a file, and open it. */
int solverbook_load(solverbook *book, const char *path);

/* Free what the reader has allocated. A book that failed to open need not be closed, but may be. */
void solverbook_close(solverbook *book);

/* Look a state up: SOLVERBOOK_FOUND, SOLVERBOOK_MISSING, or a negative code. */
int solverbook_get(solverbook *book, uint64_t state, solverbook_value *value);

/* The same for a state of any size: so many bytes, the lowest first. */
int solverbook_get_wide(solverbook *book, const unsigned char *state, size_t size, solverbook_value *value);

/* Compare the checksums of all segments. */
int solverbook_check(solverbook *book);

/* What a code says, in English. */
const char *solverbook_message(int code);

#ifdef __cplusplus
}
#endif

#endif /* SOLVERBOOK_H */

#ifdef SOLVERBOOK_IMPLEMENTATION

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOLVERBOOK_PREFIX 64
#define SOLVERBOOK_SEGMENT 65520       /* bytes of a segment at most */
#define SOLVERBOOK_HEAD (1u << 26)     /* bytes of prefix, facts, palette and directory at most */
#define SOLVERBOOK_VALUES (1u << 21)   /* of a palette at most */
#define SOLVERBOOK_PLIES ((int64_t)1 << 40) /* above any distance */
#define SOLVERBOOK_STATE_BYTES 64      /* of a wide state at most */
#define SOLVERBOOK_GROUP_STATES 6144   /* of a group of the codec `compact` at most */
#define SOLVERBOOK_GROUP_KEYS 12288    /* bytes of its keys at most */
#define SOLVERBOOK_PACKED 8            /* the first key mode of `instant` with bits side by side */
#define SOLVERBOOK_CHANCE_ZERO (1u << 30) /* the number of the expectation 0 */

enum { SOLVERBOOK_INSTANT, SOLVERBOOK_COMPACT, SOLVERBOOK_BY_RANK };

/* ---- numbers from bytes, the lowest first ---- */

static uint32_t sb_u16(const unsigned char *at) { return (uint32_t)at[0] | (uint32_t)at[1] << 8; }

static uint32_t sb_u32(const unsigned char *at) { return sb_u16(at) | sb_u16(at + 2) << 16; }

static uint64_t sb_u64(const unsigned char *at) { return sb_u32(at) | (uint64_t)sb_u32(at + 4) << 32; }

static int64_t sb_i64(const unsigned char *at) {
    uint64_t number = sb_u64(at);
    return number >> 63 ? -(int64_t)(~number) - 1 : (int64_t)number;
}

static double sb_f64(const unsigned char *at) {
    uint64_t bits = sb_u64(at);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static uint32_t sb_index(const unsigned char *table, uint32_t place, uint32_t index_bytes) {
    const unsigned char *at = table + (size_t)place * index_bytes;
    return index_bytes == 1 ? at[0] : index_bytes == 2 ? sb_u16(at) : sb_u32(at);
}

/* The number of `width` bits, at most 63, that begins with bit `bit` behind `begin`. */
static uint64_t sb_bits(const unsigned char *begin, uint64_t bit, uint32_t width) {
    uint64_t number = 0;
    uint32_t done = 0;
    while (done < width) {
        uint64_t at = bit + done;
        uint32_t shift = (uint32_t)(at & 7), count = 8 - shift;
        number |= (uint64_t)(begin[at >> 3] >> shift) << done;
        done += count;
    }
    return width ? number & (~(uint64_t)0 >> (64 - width)) : 0;
}

static uint32_t sb_population(uint32_t byte) {
    byte -= byte >> 1 & 0x55;
    byte = (byte & 0x33) + (byte >> 2 & 0x33);
    return (byte + (byte >> 4)) & 15;
}

/* Compare numbers of `size` bytes each. */
static int sb_compare(const unsigned char *one, const unsigned char *other, uint32_t size) {
    while (size--) {
        if (one[size] != other[size]) return one[size] < other[size] ? -1 : 1;
    }
    return 0;
}

/* ---- checksums: the crc32 of zlib and PNG, a nibble at a time ---- */

static uint32_t sb_crc32(const unsigned char *bytes, uint64_t size, uint32_t before) {
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = ~before;
    uint64_t at;
    for (at = 0; at < size; at++) {
        crc ^= bytes[at];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* Whether a record of the file, with its checksum in front, is as it was written. */
static int sb_is_whole(const solverbook *book, uint64_t number, const unsigned char *record, uint64_t size) {
    unsigned char seed[16];
    int at;
    if (size < 4) return 0;
    memcpy(seed, book->bytes + 32, 8); /* the book's id */
    for (at = 0; at < 8; at++) seed[8 + at] = (unsigned char)(number >> 8 * at);
    return sb_u32(record) == sb_crc32(record + 4, size - 4, sb_crc32(seed, 16, 0));
}

/* ---- raw deflate (RFC 1951) ---- */

typedef struct {
    const unsigned char *data;
    uint32_t size, at;
    uint32_t held, bits; /* bits that were read and not yet used */
    unsigned char *out;
    uint32_t made, most;
    int failed;
} sb_stream;

#define SOLVERBOOK_FAST 9 /* bits of the codes that a table tells */

typedef struct {
    uint16_t counts[16];                 /* codes of each length */
    uint16_t symbols[288];               /* in the order of their codes */
    uint16_t fast[1 << SOLVERBOOK_FAST]; /* by the next bits: 512 * length + symbol, or 0 */
} sb_huffman;

static void sb_fill(sb_stream *stream) {
    while (stream->bits <= 24 && stream->at < stream->size) {
        stream->held |= (uint32_t)stream->data[stream->at++] << stream->bits;
        stream->bits += 8;
    }
}

static uint32_t sb_take(sb_stream *stream, uint32_t count) {
    uint32_t number;
    if (stream->bits < count) sb_fill(stream);
    if (stream->bits < count) {
        stream->failed = 1;
        return 0;
    }
    number = stream->held & ((1u << count) - 1);
    stream->held >>= count;
    stream->bits -= count;
    return number;
}

static int sb_symbol(sb_stream *stream, const sb_huffman *codes) {
    int code = 0, first = 0, place = 0, length;
    uint32_t known;
    if (stream->bits < 15) sb_fill(stream);
    known = codes->fast[stream->held & ((1u << SOLVERBOOK_FAST) - 1)];
    if (known && known >> 9 <= stream->bits) {
        stream->held >>= known >> 9;
        stream->bits -= known >> 9;
        return (int)(known & 511);
    }
    for (length = 1; length < 16; length++) {
        int count = codes->counts[length];
        code |= (int)sb_take(stream, 1);
        if (stream->failed) return -1;
        if (code - count < first) return codes->symbols[place + code - first];
        place += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    stream->failed = 1;
    return -1;
}

/* Make the codes of symbols whose lengths are given. A single code of one bit may be incomplete. */
static int sb_codes(sb_huffman *codes, const unsigned char *lengths, int count) {
    uint16_t places[16];
    int length, symbol, left = 1, code = 0, place = 0;
    memset(codes->counts, 0, sizeof codes->counts);
    memset(codes->fast, 0, sizeof codes->fast);
    for (symbol = 0; symbol < count; symbol++) codes->counts[lengths[symbol]]++;
    if (codes->counts[0] == count) return 0;
    for (length = 1; length < 16; length++) {
        left = (left << 1) - codes->counts[length];
        if (left < 0) return -1;
    }
    places[1] = 0;
    for (length = 1; length < 15; length++) places[length + 1] = (uint16_t)(places[length] + codes->counts[length]);
    for (symbol = 0; symbol < count; symbol++) {
        if (lengths[symbol]) codes->symbols[places[lengths[symbol]]++] = (uint16_t)symbol;
    }
    for (length = 1; length <= SOLVERBOOK_FAST; length++, code <<= 1) {
        int last = place + codes->counts[length];
        for (; place < last; place++, code++) {
            unsigned turned = 0, next;
            int bit;
            for (bit = 0; bit < length; bit++) turned |= ((unsigned)code >> bit & 1) << (length - 1 - bit);
            for (next = turned; next < 1u << SOLVERBOOK_FAST; next += 1u << length)
                codes->fast[next] = (uint16_t)(length << 9 | codes->symbols[place]);
        }
    }
    return left > 0 && count - codes->counts[0] != 1 ? -1 : 0;
}

static void sb_put(sb_stream *stream, unsigned char byte) {
    if (stream->made == stream->most) stream->failed = 1; /* there is more than was asked for */
    else stream->out[stream->made++] = byte;
}

static void sb_inflate_coded(sb_stream *stream, const sb_huffman *literals, const sb_huffman *distances) {
    static const uint16_t lengths[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                         31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const unsigned char length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                  2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t bases[30] = {1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
                                       193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    while (!stream->failed) {
        int symbol = sb_symbol(stream, literals);
        if (symbol < 0 || symbol == 256) return;
        if (symbol < 256) {
            sb_put(stream, (unsigned char)symbol);
        } else {
            uint32_t length, away;
            if (symbol > 285) {
                stream->failed = 1;
                return;
            }
            length = lengths[symbol - 257] + sb_take(stream, length_bits[symbol - 257]);
            symbol = sb_symbol(stream, distances);
            if (symbol < 0 || symbol > 29) {
                stream->failed = 1;
                return;
            }
            away = bases[symbol] + sb_take(stream, symbol < 2 ? 0 : (uint32_t)symbol / 2 - 1);
            if (away > stream->made) stream->failed = 1;
            while (length-- && !stream->failed) sb_put(stream, stream->out[stream->made - away]);
        }
    }
}

static void sb_inflate_stored(sb_stream *stream) {
    uint32_t length;
    stream->at -= stream->bits / 8; /* bytes that were read ahead; the rest of a byte is passed over */
    stream->held = stream->bits = 0;
    if (stream->size - stream->at < 4) {
        stream->failed = 1;
        return;
    }
    length = sb_u16(stream->data + stream->at);
    if ((length ^ 0xffff) != sb_u16(stream->data + stream->at + 2) || length > stream->size - stream->at - 4) {
        stream->failed = 1;
        return;
    }
    stream->at += 4;
    while (length-- && !stream->failed) sb_put(stream, stream->data[stream->at++]);
}

static void sb_inflate_dynamic(sb_stream *stream) {
    static const unsigned char order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned char lengths[320];
    sb_huffman literals, distances;
    int literal_count = (int)sb_take(stream, 5) + 257, distance_count = (int)sb_take(stream, 5) + 1;
    int code_count = (int)sb_take(stream, 4) + 4, at = 0;
    if (stream->failed || literal_count > 286 || distance_count > 30) {
        stream->failed = 1;
        return;
    }
    memset(lengths, 0, sizeof lengths);
    while (code_count--) lengths[order[at++]] = (unsigned char)sb_take(stream, 3);
    if (sb_codes(&literals, lengths, 19)) stream->failed = 1;
    for (at = 0; at < literal_count + distance_count && !stream->failed;) {
        int symbol = sb_symbol(stream, &literals);
        unsigned char repeated = 0;
        uint32_t count = 1;
        if (symbol < 0) return;
        if (symbol < 16) repeated = (unsigned char)symbol;
        else if (symbol == 16) {
            if (at == 0) stream->failed = 1;
            else repeated = lengths[at - 1];
            count = 3 + sb_take(stream, 2);
        } else count = symbol == 17 ? 3 + sb_take(stream, 3) : 11 + sb_take(stream, 7);
        if ((uint32_t)at + count > (uint32_t)(literal_count + distance_count)) stream->failed = 1;
        while (count-- && !stream->failed) lengths[at++] = repeated;
    }
    if (stream->failed || !lengths[256] || sb_codes(&literals, lengths, literal_count) ||
        sb_codes(&distances, lengths + literal_count, distance_count)) {
        stream->failed = 1;
        return;
    }
    sb_inflate_coded(stream, &literals, &distances);
}

static void sb_inflate_known(sb_stream *stream) {
    unsigned char lengths[288];
    sb_huffman literals, distances;
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    sb_codes(&literals, lengths, 288);
    memset(lengths, 5, 30);
    sb_codes(&distances, lengths, 30);
    sb_inflate_coded(stream, &literals, &distances);
}

/* Inflate the first `most` bytes of `whole`, and say whether they are there, and no more than these if it is all. */
static int sb_inflate(const unsigned char *data, uint32_t size, unsigned char *out, uint32_t most, uint32_t whole) {
    sb_stream stream;
    uint32_t last;
    memset(&stream, 0, sizeof stream);
    stream.data = data;
    stream.size = size;
    stream.out = out;
    stream.most = most;
    do {
        uint32_t kind;
        if (most < whole && stream.made == most) break;
        last = sb_take(&stream, 1);
        kind = sb_take(&stream, 2);
        if (stream.failed) return 0;
        if (kind == 0) sb_inflate_stored(&stream);
        else if (kind == 1) sb_inflate_known(&stream);
        else if (kind == 2) sb_inflate_dynamic(&stream);
        else stream.failed = 1;
    } while (!last && !stream.failed);
    if (most < whole) return stream.made == most;
    return !stream.failed && stream.made == most;
}

/* ---- groups: the codecs find the number of a value. The offset is the state less the first of the group ---- */

/* The place of a bit among those that are set; SOLVERBOOK_FOUND if it is one of them. */
static int sb_in_bitmap(const unsigned char *bits, uint32_t size, uint64_t bit, uint32_t count, uint32_t *place) {
    uint32_t at;
    if (bit >> 3 >= size || !(bits[bit >> 3] >> (bit & 7) & 1)) return SOLVERBOOK_MISSING;
    *place = sb_population(bits[bit >> 3] & ((1u << (bit & 7)) - 1));
    for (at = 0; at < bit >> 3; at++) *place += sb_population(bits[at]);
    return *place < count ? SOLVERBOOK_FOUND : SOLVERBOOK_DAMAGED;
}

static uint64_t sb_key(const unsigned char *at, uint32_t bytes) { return bytes == 8 ? sb_u64(at) : sb_index(at, 0, bytes); }

/* Keys by Elias and Fano: `low_bits` of each side by side, the rest as zeros before a one for each key. */
static int sb_in_unary(const unsigned char *group, uint32_t keys, uint32_t highs, uint32_t size, uint32_t low_bits,
                       uint32_t count, uint64_t offset, uint32_t *place) {
    uint64_t low = low_bits ? offset & (~(uint64_t)0 >> (64 - low_bits)) : 0, high = offset >> low_bits;
    uint32_t bits = 8 * (size - highs), bit, ones = 0;
    for (bit = 0; bit < bits; bit++) {
        if (!(group[highs + bit / 8] >> (bit & 7) & 1)) continue;
        if (ones >= count) return SOLVERBOOK_DAMAGED;
        if ((uint64_t)(bit - ones) > high) return SOLVERBOOK_MISSING;
        if (bit - ones == high && sb_bits(group + keys, (uint64_t)ones * low_bits, low_bits) == low) {
            *place = ones;
            return SOLVERBOOK_FOUND;
        }
        ones++;
    }
    return SOLVERBOOK_MISSING;
}

/* `state` is the offset of a state of so many bytes, from the first of the group. Without bytes of an index there are
 * numbers of steps in place of indices, and the bits of a value and the least of them in place of the local palette. */
static int sb_find_instant(const unsigned char *group, uint32_t size, const unsigned char *state, uint32_t state_bytes,
                           uint32_t index_bytes, uint32_t *index) {
    static const unsigned char key_sizes[8] = {8, 1, 2, 4, 8, 16, 32, 64}, zero[SOLVERBOOK_STATE_BYTES] = {0};
    uint64_t offset = sb_u64(state), number;
    uint32_t mode, width, count, entries, values, keys, highs, place = 0, bytes;
    int found = SOLVERBOOK_FOUND;
    if (size <= 3) return SOLVERBOOK_DAMAGED;
    mode = index_bytes ? group[0] & 7 : group[0];
    width = index_bytes ? group[0] >> 3 : group[2];
    count = group[1] + 1u;
    entries = group[2] + 1u;
    values = 3 + (index_bytes ? entries * index_bytes : 4);
    keys = values + (count * width + 7) / 8;
    bytes = key_sizes[mode < SOLVERBOOK_PACKED ? mode : 0];
    highs = keys + (mode < SOLVERBOOK_PACKED ? 0 : (count * (mode - SOLVERBOOK_PACKED) + 7) / 8);
    if (mode > 64 || (index_bytes ? (width & (width - 1)) || width > 8 : width > 32)) return SOLVERBOOK_DAMAGED;
    if (mode && mode < SOLVERBOOK_PACKED ? !index_bytes || bytes > state_bytes || keys + count * bytes != size : highs >= size)
        return SOLVERBOOK_DAMAGED;
    if (bytes < state_bytes && sb_compare(state + bytes, zero, state_bytes - bytes)) return SOLVERBOOK_MISSING;
    if (!mode) found = sb_in_bitmap(group + keys, size - keys, offset, count, &place);
    else if (mode >= SOLVERBOOK_PACKED) found = sb_in_unary(group, keys, highs, size, mode - SOLVERBOOK_PACKED, count, offset, &place);
    else {
        uint32_t high = count;
        while (place < high) {
            uint32_t middle = (place + high) / 2;
            const unsigned char *key = group + keys + (size_t)middle * bytes;
            if (bytes > 8 ? sb_compare(key, state, bytes) < 0 : sb_key(key, bytes) < offset) place = middle + 1;
            else high = middle;
        }
        if (place == count || sb_compare(group + keys + (size_t)place * bytes, state, bytes)) return SOLVERBOOK_MISSING;
    }
    if (found != SOLVERBOOK_FOUND) return found;
    number = sb_bits(group + values, (uint64_t)place * width, width);
    if (!index_bytes) number += sb_u32(group + 3);
    if (index_bytes ? number >= entries : number > 2u * SOLVERBOOK_CHANCE_ZERO) return SOLVERBOOK_DAMAGED;
    *index = index_bytes ? sb_index(group + 3, (uint32_t)number, index_bytes) : (uint32_t)number;
    return SOLVERBOOK_FOUND;
}

/* The difference of a state of a compact group from the first: the highest bytes of all states lie in front. */
static uint64_t sb_plane_key(const unsigned char *keys, uint32_t mode, uint32_t count, uint32_t place) {
    uint64_t key = 0;
    uint32_t plane;
    for (plane = 0; plane < mode; plane++) key = key << 8 | keys[plane * count + place];
    return key;
}

static int sb_find_compact(const unsigned char *group, uint32_t size, uint64_t offset, uint32_t index_bytes, uint32_t *index) {
    unsigned char keys[SOLVERBOOK_GROUP_KEYS], values[4 * SOLVERBOOK_GROUP_STATES];
    uint32_t mode, count, key_bytes, deflated, wanted, place = 0;
    if (size <= 7) return SOLVERBOOK_DAMAGED;
    mode = group[0];
    count = sb_u16(group + 1) + 1;
    key_bytes = sb_u16(group + 3) + 1;
    deflated = sb_u16(group + 5);
    if (mode > 8 || count > SOLVERBOOK_GROUP_STATES || key_bytes > SOLVERBOOK_GROUP_KEYS || 7 + deflated > size ||
        (mode && key_bytes != mode * count))
        return SOLVERBOOK_DAMAGED;
    if (!mode && offset >> 3 >= key_bytes) return SOLVERBOOK_MISSING;
    wanted = mode ? key_bytes : (uint32_t)(offset >> 3) + 1;
    if (!sb_inflate(group + 7, deflated, keys, wanted, key_bytes)) return SOLVERBOOK_DAMAGED;
    if (!mode) {
        int found = sb_in_bitmap(keys, wanted, offset, count, &place);
        if (found != SOLVERBOOK_FOUND) return found;
    } else {
        uint32_t high = count;
        while (place < high) {
            uint32_t middle = (place + high) / 2;
            if (sb_plane_key(keys, mode, count, middle) < offset) place = middle + 1;
            else high = middle;
        }
        if (place == count || sb_plane_key(keys, mode, count, place) != offset) return SOLVERBOOK_MISSING;
    }
    wanted = (place + 1) * index_bytes;
    if (!sb_inflate(group + 7 + deflated, size - 7 - deflated, values, wanted, count * index_bytes)) return SOLVERBOOK_DAMAGED;
    *index = sb_index(values, place, index_bytes);
    return SOLVERBOOK_FOUND;
}

/* ---- segments ---- */

static const unsigned char *sb_entry(const solverbook *book, uint32_t number) {
    return book->directory + (size_t)number * (book->state_bytes + 8);
}

static uint64_t sb_place(const solverbook *book, uint32_t number) {
    return number == book->segments ? book->size : sb_u64(sb_entry(book, number) + book->state_bytes);
}

/* Whether a segment is whole, and its groups lie inside of it one behind the other. */
static int sb_check_segment(solverbook *book, uint32_t number) {
    const unsigned char *segment = book->bytes + sb_place(book, number);
    uint32_t size = (uint32_t)(sb_place(book, number + 1) - sb_place(book, number));
    uint32_t states = book->state_bytes, groups, table, group;
    if (book->checked[number]) return SOLVERBOOK_OK;
    if (!sb_is_whole(book, number, segment, size) || size < 10) return SOLVERBOOK_DAMAGED;
    groups = sb_u16(segment + 4);
    table = 10 + (states + 2) * groups;
    if (!groups || table > size || segment[6] != book->codec || segment[7] != book->index_bytes) return SOLVERBOOK_DAMAGED;
    if (sb_compare(segment + 8, sb_entry(book, number), states)) return SOLVERBOOK_DAMAGED;
    for (group = 0; group <= groups; group++) {
        uint32_t place = sb_u16(segment + 8 + states * groups + 2 * group);
        uint32_t next = group < groups ? sb_u16(segment + 10 + states * groups + 2 * group) : size + 1;
        if (place >= next || (group == 0 && place != table) || (group == groups && place != size)) return SOLVERBOOK_DAMAGED;
        if (group && group < groups && sb_compare(segment + 8 + states * (group - 1), segment + 8 + states * group, states) >= 0)
            return SOLVERBOOK_DAMAGED;
    }
    book->checked[number] = 1;
    return SOLVERBOOK_OK;
}

/* The last of `count` ascending states, each `stride` bytes behind the one before, that is not above a state; or -1. */
static int64_t sb_last(const unsigned char *states, uint32_t count, uint32_t stride, const unsigned char *state, uint32_t size) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sb_compare(states + (size_t)middle * stride, state, size) <= 0) low = middle + 1;
        else high = middle;
    }
    return (int64_t)low - 1;
}

static int sb_find(solverbook *book, const unsigned char *state, uint32_t *index) {
    unsigned char offset[SOLVERBOOK_STATE_BYTES] = {0};
    const unsigned char *segment, *group, *first;
    uint32_t bytes = book->state_bytes, groups, at, size, borrow = 0;
    int64_t number = sb_last(book->directory, book->segments, bytes + 8, state, bytes), slot;
    if (number < 0) return SOLVERBOOK_MISSING;
    if (sb_check_segment(book, (uint32_t)number) != SOLVERBOOK_OK) return SOLVERBOOK_DAMAGED;
    segment = book->bytes + sb_place(book, (uint32_t)number);
    groups = sb_u16(segment + 4);
    slot = sb_last(segment + 8, groups, bytes, state, bytes);
    if (slot < 0) return SOLVERBOOK_DAMAGED;
    first = segment + 8 + bytes * (uint32_t)slot;
    for (at = 0; at < bytes; at++) {
        uint32_t less = first[at] + borrow;
        borrow = state[at] < less;
        offset[at] = (unsigned char)(state[at] - less);
    }
    at = sb_u16(segment + 8 + bytes * groups + 2 * (uint32_t)slot);
    size = sb_u16(segment + 10 + bytes * groups + 2 * (uint32_t)slot) - at;
    group = segment + at;
    if (book->codec == SOLVERBOOK_COMPACT) return sb_find_compact(group, size, sb_u64(offset), book->index_bytes, index);
    return sb_find_instant(group, size, offset, bytes, book->index_bytes, index);
}

int solverbook_get_wide(solverbook *book, const unsigned char *state, size_t size, solverbook_value *value) {
    unsigned char asked[SOLVERBOOK_STATE_BYTES] = {0};
    const unsigned char *entry;
    uint32_t index = 0;
    size_t at;
    int found;
    for (at = 0; at < size; at++) {
        if (at < book->state_bytes) asked[at] = state[at];
        else if (state[at]) return SOLVERBOOK_MISSING;
    }
    if (book->state_bytes == 8 && asked[7] >> 7) return SOLVERBOOK_MISSING;
    found = sb_find(book, asked, &index);
    if (found != SOLVERBOOK_FOUND) return found;
    value->is_estimate = 0;
    if (!book->index_bytes) {
        value->score = ((double)index - SOLVERBOOK_CHANCE_ZERO) * book->step;
        value->distance = -1;
        return SOLVERBOOK_FOUND;
    }
    if (index >= book->values) return SOLVERBOOK_DAMAGED;
    entry = book->palette + 16 * (size_t)index;
    value->distance = sb_i64(entry + 8);
    if (value->distance == -2) {
        value->is_estimate = 1;
        value->distance = -1;
        value->score = sb_f64(entry);
        return SOLVERBOOK_FOUND;
    }
    value->score = (double)sb_i64(entry);
    return SOLVERBOOK_FOUND;
}

int solverbook_get(solverbook *book, uint64_t state, solverbook_value *value) {
    unsigned char bytes[8];
    int at;
    for (at = 0; at < 8; at++) bytes[at] = (unsigned char)(state >> 8 * at);
    return solverbook_get_wide(book, bytes, 8, value);
}

int solverbook_check(solverbook *book) {
    uint32_t number;
    for (number = 0; number < book->segments; number++) {
        if (sb_check_segment(book, number) != SOLVERBOOK_OK) return SOLVERBOOK_DAMAGED;
    }
    return SOLVERBOOK_OK;
}

/* ---- opening ---- */

/* Where the facts go on behind a text, or their end. No name can have that text: its quotes were escaped. */
static uint32_t sb_behind(const char *facts, uint32_t size, const char *text) {
    uint32_t at = 0, length = (uint32_t)strlen(text);
    while (at + length <= size && memcmp(facts + at, text, length)) at++;
    return at + length <= size ? at + length : size;
}

/* The step of expectations in the facts, which is a power of two from 1 down; 0 if there is none. */
static double sb_step(const char *facts, uint32_t size) {
    double number = 0, scale = 1, power;
    int exponent = 0, negative = 0, halves;
    uint32_t at;
    for (at = sb_behind(facts, size, "\"step\":"); at < size && facts[at] >= '0' && facts[at] <= '9'; at++) number = 10 * number + (facts[at] - '0');
    if (at < size && facts[at] == '.') {
        for (at++; at < size && facts[at] >= '0' && facts[at] <= '9'; at++) {
            scale /= 10;
            number += scale * (facts[at] - '0');
        }
    }
    if (at < size && (facts[at] == 'e' || facts[at] == 'E')) {
        at++;
        if (at < size && (facts[at] == '-' || facts[at] == '+')) negative = facts[at++] == '-';
        for (; at < size && facts[at] >= '0' && facts[at] <= '9' && exponent < 100; at++) exponent = 10 * exponent + (facts[at] - '0');
    }
    while (exponent--) number = negative ? number / 10 : number * 10;
    for (halves = 0, power = 1; halves < 64; halves++, power /= 2) {
        double off = number > power ? number - power : power - number;
        if (off < power * 1e-9) return power;
    }
    return 0;
}

/* Whether a game can have each value of the palette: wins and losses alone have a distance, and an estimate is a number. */
static int sb_check_palette(const solverbook *book) {
    uint32_t number;
    for (number = 0; number < book->values; number++) {
        const unsigned char *entry = book->palette + 16 * (size_t)number;
        int64_t score = sb_i64(entry), distance = sb_i64(entry + 8);
        double estimate = sb_f64(entry);
        if (distance == -1) continue;
        if (distance == -2 && book->has_estimates) {
            if (estimate - estimate != 0) return SOLVERBOOK_DAMAGED;
        } else if (distance < 0 || distance >= SOLVERBOOK_PLIES || (score != 1 && score != -1)) return SOLVERBOOK_DAMAGED;
    }
    return SOLVERBOOK_OK;
}

/* The first bytes of a file: whether it is a book that this reader knows, and how it is laid out. */
static int sb_open_prefix(solverbook *book, const unsigned char *bytes, uint64_t size) {
    static const unsigned char magic[8] = {0x73, 0x6f, 0x6c, 0x76, 0x65, 0x72, 0x1a, 0x0a};
    if (size >= 8 && !memcmp(bytes, magic, 6) && bytes[6] == 0x0d) return SOLVERBOOK_OLD;
    if (size < SOLVERBOOK_PREFIX || memcmp(bytes, magic, 8) || sb_u32(bytes + 60) != sb_crc32(bytes, 60, 0))
        return SOLVERBOOK_DAMAGED;
    book->codec = sb_u32(bytes + 12);
    book->stored = sb_u64(bytes + 24);
    book->values = sb_u32(bytes + 44);
    book->segments = sb_u32(bytes + 48);
    book->index_bytes = sb_u32(bytes + 52);
    book->state_bytes = sb_u32(bytes + 56);
    if (book->codec == SOLVERBOOK_BY_RANK) return SOLVERBOOK_RANKED;
    if (sb_u32(bytes + 8) != 1 || book->codec > SOLVERBOOK_BY_RANK) return SOLVERBOOK_UNKNOWN;
    if (book->index_bytes > 4 || book->index_bytes == 3 || (book->codec && !book->index_bytes)) return SOLVERBOOK_DAMAGED;
    if (!book->state_bytes || book->state_bytes % 8 || book->state_bytes > (book->codec || !book->index_bytes ? 8 : SOLVERBOOK_STATE_BYTES))
        return SOLVERBOOK_DAMAGED;
    return sb_u64(bytes + 16) < SOLVERBOOK_PREFIX ? SOLVERBOOK_DAMAGED : SOLVERBOOK_OK;
}

static int sb_open_head(solverbook *book) {
    const unsigned char *bytes = book->bytes, *record;
    uint64_t sizes[3], end;
    uint32_t number;
    int part, code = sb_open_prefix(book, bytes, book->size);
    if (code != SOLVERBOOK_OK) return code;
    if (sb_u64(bytes + 16) != book->size) return SOLVERBOOK_DAMAGED;
    sizes[0] = sb_u32(bytes + 40);
    sizes[1] = 4 + (uint64_t)16 * book->values;
    sizes[2] = 4 + (uint64_t)(book->state_bytes + 8) * book->segments;
    end = SOLVERBOOK_PREFIX + sizes[0] + sizes[1] + sizes[2];
    if (sizes[0] < 4 || end > book->size || end > SOLVERBOOK_HEAD || book->values > SOLVERBOOK_VALUES) return SOLVERBOOK_DAMAGED;
    record = bytes + SOLVERBOOK_PREFIX;
    for (part = 0; part < 3; part++) {
        if (!sb_is_whole(book, (uint64_t)part, record, sizes[part])) return SOLVERBOOK_DAMAGED;
        if (part == 0) {
            book->facts = (const char *)record + 4;
            book->facts_size = (uint32_t)sizes[0] - 4;
            for (number = 0; number < book->facts_size; number++) {
                if (book->facts[number] < 0x20 || book->facts[number] > 0x7e) return SOLVERBOOK_DAMAGED; /* a terminal may obey it */
            }
        } else if (part == 1) book->palette = record + 4;
        else book->directory = record + 4;
        record += sizes[part];
    }
    book->has_estimates = sb_behind(book->facts, book->facts_size, "\"estimate\":{") < book->facts_size;
    if (!book->index_bytes != (sb_behind(book->facts, book->facts_size, "\"values\":\"steps\"") < book->facts_size))
        return SOLVERBOOK_DAMAGED;
    if (!book->index_bytes) {
        book->step = sb_step(book->facts, book->facts_size);
        if (book->step == 0 || book->values) return SOLVERBOOK_DAMAGED;
    }
    if (sb_check_palette(book) != SOLVERBOOK_OK) return SOLVERBOOK_DAMAGED;
    for (number = 0; number < book->segments; number++) {
        uint64_t begin = sb_place(book, number), next = sb_place(book, number + 1);
        if (number == 0 && begin != end) return SOLVERBOOK_DAMAGED;
        if (next <= begin || next - begin > SOLVERBOOK_SEGMENT || next > book->size) return SOLVERBOOK_DAMAGED;
        if (number && sb_compare(sb_entry(book, number - 1), sb_entry(book, number), book->state_bytes) >= 0) return SOLVERBOOK_DAMAGED;
    }
    return book->segments || end == book->size ? SOLVERBOOK_OK : SOLVERBOOK_DAMAGED;
}

int solverbook_open(solverbook *book, const void *bytes, size_t size) {
    int code;
    memset(book, 0, sizeof *book);
    book->bytes = (const unsigned char *)bytes;
    book->size = size;
    code = sb_open_head(book);
    if (code != SOLVERBOOK_OK) {
        book->segments = 0; /* nothing is found in a book that did not open */
        return code;
    }
    book->checked = (unsigned char *)calloc(book->segments ? book->segments : 1, 1);
    return book->checked ? SOLVERBOOK_OK : SOLVERBOOK_NO_MEMORY;
}

int solverbook_load(solverbook *book, const char *path) {
    FILE *file = fopen(path, "rb");
    unsigned char prefix[SOLVERBOOK_PREFIX], *bytes = NULL;
    uint64_t size, whole = 0, room;
    int code;
    memset(book, 0, sizeof *book);
    if (!file) return SOLVERBOOK_NO_FILE;
    size = fread(prefix, 1, sizeof prefix, file);
    code = sb_open_prefix(book, prefix, size);
    if (code == SOLVERBOOK_OK) whole = sb_u64(prefix + 16); /* which need not be true: room is made as the bytes come */
    for (room = SOLVERBOOK_PREFIX; code == SOLVERBOOK_OK && size == room && size <= whole;) {
        unsigned char *more;
        room = room <= whole / 2 ? 2 * room : whole + 1; /* a byte more than there should be */
        more = room > (size_t)-1 ? NULL : (unsigned char *)realloc(bytes, (size_t)room);
        if (!more) code = SOLVERBOOK_NO_MEMORY;
        else {
            if (!bytes) memcpy(more, prefix, sizeof prefix);
            bytes = more;
            size += fread(bytes + size, 1, (size_t)(room - size), file);
        }
    }
    if (ferror(file)) code = SOLVERBOOK_NO_FILE;
    fclose(file);
    if (code == SOLVERBOOK_OK) code = solverbook_open(book, bytes, (size_t)size);
    if (code == SOLVERBOOK_OK) book->owned = bytes;
    else {
        solverbook_close(book);
        free(bytes);
    }
    return code;
}

void solverbook_close(solverbook *book) {
    free(book->checked);
    free(book->owned);
    memset(book, 0, sizeof *book);
}

const char *solverbook_message(int code) {
    switch (code) {
    case SOLVERBOOK_MISSING: return "no error; of a look-up: the book has no such state";
    case SOLVERBOOK_FOUND: return "the value is known";
    case SOLVERBOOK_DAMAGED: return "the file is damaged or no book: get it again";
    case SOLVERBOOK_UNKNOWN: return "the book is of a form that this reader does not know: get a newer solverbook.h";
    case SOLVERBOOK_RANKED: return "the book is ranked, and has no states: solver pack --codec compact makes one that has";
    case SOLVERBOOK_OLD: return "the book is older than format 1: make it anew, solver solve GAME -o BOOK and solver export BOOK";
    case SOLVERBOOK_NO_FILE: return "the file cannot be read: look at its path";
    case SOLVERBOOK_NO_MEMORY: return "there is too little memory";
    default: return "an unknown code";
    }
}

#ifdef __cplusplus
}
#endif

#endif /* SOLVERBOOK_IMPLEMENTATION */
