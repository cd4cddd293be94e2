/* world/id_order.h - the order of slots by the ids of their bodies.
 *
 * Contacts, sums and colours follow this order, not that of slots: where bodies are kept, and which slots they reuse, does
 * not show in a step. As long as ids ascend with slots, as before the first reuse, nothing is stored. */
#ifndef TALUS_WORLD_ID_ORDER_H
#define TALUS_WORLD_ID_ORDER_H

#include <talus/base.h>

#include <stdbool.h>
#include <stdint.h>

/* Starts as zeros. */
typedef struct TalusIdOrder {
    bool stored;       /* the arrays hold the order; else ids ascend with slots */
    int slots;         /* length of the arrays */
    uint32_t *rank;    /* by slot: its place in the order */
    uint32_t *at_rank; /* by place: the slot */
    uint64_t *id;      /* by slot: the ids that the arrays were made from */
} TalusIdOrder;

/* Brings the order up to date; dead slots, which keep the ids of their last bodies, have places too. */
TalusStatus talus_id_order_update(TalusIdOrder *order, const uint64_t *id, int slots);
void talus_id_order_clear(TalusIdOrder *order);

#endif
