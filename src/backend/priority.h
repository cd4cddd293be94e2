/* backend/priority.h - priorities of contacts for colouring, from their keys; for host and device.
 *
 * Sweeps colour contacts by first fit in the order of falling priority. A priority is a hash of the contact's key: the
 * numbers of its bodies, and its index among the contacts of that pair; not its run, for the colours must not depend on
 * the form in which a contact is stored. Equal priorities of different pairs, possible though hardly ever so, are ordered
 * by the numbers themselves; contacts of one pair by their places, for these are in the order of keys anywhere. So the
 * colour of a contact depends on the contacts that share bodies with it, on theirs, and so on for a few steps (hashes have
 * short falling chains), and neither on places in lists nor on what else there is. */
#ifndef TALUS_BACKEND_PRIORITY_H
#define TALUS_BACKEND_PRIORITY_H

#include "backend/operator.h"

#include <stdint.h>
#include <talus/math.h>

/* Bijective: first contacts of different pairs have different priorities as long as numbers have 32 bits. */
TALUS_INLINE uint64_t talus_mix_priority(uint64_t x)
{
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

/* A pair with more contacts than this has a body with too many for colours, or none that impulses move: priorities beyond
 * need not differ. */
enum { TALUS_PAIR_INDICES = 64 };

/* Returns the index of contact i among the contacts of its pair of bodies, which follow each other; at most
 * TALUS_PAIR_INDICES, so that a body with thousands of contacts on the ground does not take the square of their number. */
TALUS_INLINE int talus_pair_index(const int32_t (*pair)[2], int i)
{
    int index = 0;
    while (i > index && index < TALUS_PAIR_INDICES && pair[i - index - 1][0] == pair[i][0] &&
           pair[i - index - 1][1] == pair[i][1])
        index++;
    return index;
}

/* Returns the priority of contact i. Contacts of one pair that do not follow each other in the list, as those with two
 * fixed bodies in two runs, can have the same one. */
TALUS_INLINE uint64_t talus_contact_priority(const int32_t (*pair)[2],
                                             const TalusBodyNumbers *numbers, int i)
{
    uint64_t a = talus_body_number(numbers, pair[i][0]), b = talus_body_number(numbers, pair[i][1]);
    uint64_t key = talus_mix_priority(a ^ (b << 32 | b >> 32));
    int index = talus_pair_index(pair, i);
    return index ? talus_mix_priority(key + (uint64_t)index) : key;
}

/* True if contact i comes before contact j, which has the same priority. */
TALUS_INLINE bool talus_tie_comes_first(const int32_t (*pair)[2], const TalusBodyNumbers *numbers,
                                        int i, int j)
{
    for (int side = 0; side < 2; side++) {
        uint64_t mine = talus_body_number(numbers, pair[i][side]);
        uint64_t other = talus_body_number(numbers, pair[j][side]);
        if (mine != other)
            return mine < other;
    }
    return i < j;
}

#endif
