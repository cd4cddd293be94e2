/* backend/cpu/colour.h - contacts in colours: no two of one colour share a body that moves. */
#ifndef TALUS_BACKEND_CPU_COLOUR_H
#define TALUS_BACKEND_CPU_COLOUR_H

#include "backend/operator.h"

/* Colours 0..61 come from greedy first fit in contact order. A body with more than HEAVY_TOUCHES
 * contacts would need a colour for each, so its contacts are kept apart: they see the body's
 * velocity frozen and its mass split among them (sweep.c). Contacts that find no free colour are
 * swept one by one. */
enum {
    COLOURS = 62,
    CLASS_OVERFLOW = 62,
    CLASS_HEAVY = 63, /* a or b is heavy */
    CLASSES = 64,
    HEAVY_TOUCHES = 40
};

/* Each contact's class, its place among the contacts of its class and run (run 0 sphere-sphere,
 * 1 sphere-fixed, 2 general; heavy and overflow contacts all count as run 2), and the counts. */
typedef struct TalusColouring {
    uint8_t *class_of; /* [blocks] */
    int32_t *place;    /* [blocks] */
    uint64_t *used; /* [bodies]: colours taken at a body; explicit: [blocks], see sweep_sparse.c */
    int count[CLASSES][3];
    int colours; /* used */
} TalusColouring;

static inline int talus_manifold_points(const TalusOperator *op, int body)
{
    return op->contact_start[body + 1] - op->contact_start[body];
}

static inline bool talus_is_heavy(const TalusOperator *op, int body)
{
    return body >= 0 && talus_manifold_points(op, body) > HEAVY_TOUCHES;
}

TalusStatus talus_colour_contacts(const TalusOperator *op, TalusColouring *colouring);
void talus_colouring_clear(TalusColouring *colouring);

#endif
