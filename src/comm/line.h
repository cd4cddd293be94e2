/* comm/line.h - things of all ranks along a line, cut into pieces of about equal weight.
 *
 * No rank has a list of all things: the ends of all pieces are found by halving at once, each round adding one number for
 * each piece over the ranks. */
#ifndef TALUS_COMM_LINE_H
#define TALUS_COMM_LINE_H

#include "comm/comm.h"

/* A thing at a place below 2^63. */
typedef struct TalusLineItem {
    uint64_t place;
    int64_t weight; /* >= 0 */
} TalusLineItem;

/* Cuts the line on which each rank has items, sorted by place, into `parts` pieces: piece p has the places first[p] to
 * first[p + 1] - 1, the last piece all further ones. A piece ends behind the first place at which it and those before it
 * have their share; what lies at one place stays together. first: [parts]. comm NULL: the items are all there are. */
TalusStatus talus_line_cut(TalusComm *comm, const TalusLineItem *item, int64_t items, int parts,
                           uint64_t *first);

/* Returns the piece that has the place. */
int talus_line_find_piece(const uint64_t *first, int parts, uint64_t place);

#endif
