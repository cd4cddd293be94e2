/* base/hash.h - 64-bit hashing of bytes, for state hashes and checksums (not for security); talus_hash_mix for host and
 * device. */
#ifndef TALUS_BASE_HASH_H
#define TALUS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <talus/math.h>

/* `hash` of the first call of talus_hash; also the increment of random generators (rng.h). */
#define TALUS_HASH_SEED UINT64_C(0x9e3779b97f4a7c15)

/* A bijective mix of 64 bits (two rounds of multiply and xor-shift). */
TALUS_INLINE uint64_t talus_hash_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    return x;
}

/* Returns the hash of a sequence of arrays of bytes, of which this is the last: `hash` is that of the arrays before,
 * TALUS_HASH_SEED if there are none. The result depends on how the bytes are divided into arrays and, since they are
 * read as words of eight, on the byte order of the host. */
static inline uint64_t talus_hash(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = (const unsigned char *)bytes;
    uint64_t word;
    for (; size >= 8; p += 8, size -= 8) {
        memcpy(&word, p, 8);
        hash = talus_hash_mix(hash ^ word) + UINT64_C(0x632be59bd9b4e019);
    }
    word = size;
    if (size > 0)               /* memcpy may not be given a NULL, even for no bytes */
        memcpy(&word, p, size); /* the last 1 to 7 bytes; their number is mixed into the top byte */
    word ^= (uint64_t)size << 56;
    return talus_hash_mix(hash ^ word);
}

/* The hash of one array that comes in parts: that of talus_hash, however it is divided. */
typedef struct TalusHasher {
    uint64_t hash; /* starts as that of the arrays before */
    size_t used;   /* bytes in `rest` */
    unsigned char rest[8];
} TalusHasher;

static inline void talus_hasher_add(TalusHasher *hasher, const void *bytes, size_t size)
{
    const unsigned char *p = (const unsigned char *)bytes;
    uint64_t word;
    while (size > 0) {
        if (hasher->used == 0 && size >= 8) {
            memcpy(&word, p, 8);
            p += 8;
            size -= 8;
        } else {
            hasher->rest[hasher->used++] = *p++;
            size--;
            if (hasher->used < 8)
                continue;
            memcpy(&word, hasher->rest, 8);
            hasher->used = 0;
        }
        hasher->hash = talus_hash_mix(hasher->hash ^ word) + UINT64_C(0x632be59bd9b4e019);
    }
}

static inline uint64_t talus_hasher_end(const TalusHasher *hasher)
{
    return talus_hash(hasher->hash, hasher->rest, hasher->used);
}

#endif
