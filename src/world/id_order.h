/* world/id_order.h - the order of slots by the ids of their bodies.
 *
 * Contacts, sums and colours follow this order, not that of slots, so that the results of a step do not depend on which
 * slots bodies have. As long as ids ascend with slots, as before the first reuse of a slot, nothing is stored. */
#ifndef TALUS_WORLD_ID_ORDER_H
#define TALUS_WORLD_ID_ORDER_H

#include <talus/base.h>

#include <stdbool.h>
#include <stdint.h>

/* Starts as zeros. */
typedef struct TalusIdOrder {
    bool stored;       /* true if the arrays hold the order; else ids ascend with slots */
    int slots;         /* length of the arrays */
    uint32_t *rank;    /* by slot: its index in the order of ids */
    uint32_t *at_rank; /* by rank: the slot */
    uint64_t *id;      /* by slot: the ids that the arrays were made from */
} TalusIdOrder;

/* Updates the order to these ids, if some id has changed. Dead slots, which keep the ids of their last bodies, have
 * ranks too. */
TalusStatus talus_id_order_update(TalusIdOrder *order, const uint64_t *id, int slots);
void talus_id_order_clear(TalusIdOrder *order);

#endif
