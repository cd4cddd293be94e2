/* backend/priority.h - priorities of contacts for colouring, from their keys; for host and device.
 *
 * Contacts get their colours in the order of falling priority, each the lowest colour that is free at its bodies. A
 * priority is a hash of the numbers of the contact's two bodies and of its index among the contacts of that pair. The
 * hash is bijective, so that the first contacts of different pairs have different priorities as long as body numbers
 * fit in 32 bits. It does not depend on the contact's run, since colours must not depend on the form in which a contact is stored.
 * Contacts of different pairs with equal priorities, which are possible but very rare, are ordered by the numbers of
 * their bodies; contacts of one pair by their indices in the list, which follow the keys. The colour of a contact thus
 * depends on the contacts that share bodies with it, on the neighbours of these, and so on for a few steps (chains of
 * falling hashes are short), but not on positions in lists or on distant contacts. */
#ifndef TALUS_BACKEND_PRIORITY_H
#define TALUS_BACKEND_PRIORITY_H

#include "backend/operator.h"
#include "base/hash.h"

#include <stdint.h>

/* Largest index of a contact in its pair that changes its priority. A pair with more contacts has a heavy body, whose
 * contacts get no colour, or two bodies that impulses do not move: priorities of further contacts need not differ. */
enum { TALUS_PAIR_INDICES = 64 };

/* What the keys of contacts are made of: fields of TalusOperator. */
typedef struct TalusContactKeys {
    const int32_t (*pair)[2];
    TalusBodyNumbers numbers;
    int list_end[2];
} TalusContactKeys;

TALUS_INLINE TalusContactKeys talus_contact_keys(const TalusOperator *op)
{
    TalusContactKeys keys = {
        (const int32_t(*)[2])op->pair, op->numbers, {op->list_end[0], op->list_end[1]}};
    return keys;
}

/* Returns the index of contact i among the contacts of its pair of bodies in its run of the list, where they are
 * consecutive; at most TALUS_PAIR_INDICES, so that the cost for a body with thousands of contacts on the ground is not
 * quadratic. */
TALUS_INLINE int talus_pair_index(const TalusContactKeys *keys, int i)
{
    const int32_t(*pair)[2] = keys->pair;
    const int begin = i >= keys->list_end[1]   ? keys->list_end[1]
                      : i >= keys->list_end[0] ? keys->list_end[0]
                                               : 0;
    int index = 0;
    while (i - index > begin && index < TALUS_PAIR_INDICES &&
           pair[i - index - 1][0] == pair[i][0] && pair[i - index - 1][1] == pair[i][1])
        index++;
    return index;
}

/* Returns the priority of contact i. Contacts of one pair that are not consecutive in the list can have equal
 * priorities, such as contacts of a body with two fixed bodies (both -1) in two runs. */
TALUS_INLINE uint64_t talus_contact_priority(const TalusContactKeys *keys, int i)
{
    uint64_t a = talus_body_number(&keys->numbers, keys->pair[i][0]);
    uint64_t b = talus_body_number(&keys->numbers, keys->pair[i][1]);
    uint64_t key = talus_hash_mix(a ^ (b << 32 | b >> 32));
    int index = talus_pair_index(keys, i);
    return index ? talus_hash_mix(key + (uint64_t)index) : key;
}

/* True if contact i is coloured before contact j, given that their priorities are equal. */
TALUS_INLINE bool talus_tie_comes_first(const TalusContactKeys *keys, int i, int j)
{
    for (int side = 0; side < 2; side++) {
        uint64_t mine = talus_body_number(&keys->numbers, keys->pair[i][side]);
        uint64_t other = talus_body_number(&keys->numbers, keys->pair[j][side]);
        if (mine != other)
            return mine < other;
    }
    return i < j;
}

#endif
