/* backend/cpu/colour.h - colours of contacts: no two contacts of one colour share a body that impulses move, so that
 * threads can sweep them in parallel. */
#ifndef TALUS_BACKEND_CPU_COLOUR_H
#define TALUS_BACKEND_CPU_COLOUR_H

#include "backend/operator.h"

/* Classes of contacts: colours 0..61, by greedy first fit by falling priority (backend/priority.h); overflow, contacts for
 * which no colour is free, swept one by one; heavy. A body with more than HEAVY_CONTACTS contacts would need a colour for each. Its
 * contacts are the class heavy: sweep.c steps them together, at frozen velocities and with the body's mass split among
 * them; sweep_sparse.c sweeps them one by one. */
enum {
    COLOURS = 62,
    CLASS_OVERFLOW = 62,
    CLASS_HEAVY = 63, /* a or b is heavy */
    CLASSES = 64,
    HEAVY_CONTACTS = 40
};

/* Classes of contacts. Runs: 0 sphere-sphere, 1 sphere-fixed, 2 general; heavy and overflow contacts count as run 2. */
typedef struct TalusColouring {
    uint8_t *class_of;     /* [blocks] */
    int32_t *place;        /* [blocks]: index within its class and run */
    uint64_t *used;        /* bit c: colour c is taken; [bodies], for an explicit matrix [blocks] */
    uint64_t *priority;    /* [blocks] */
    int32_t *order;        /* [blocks]: contacts by falling priority */
    int32_t *bucket;       /* first index in `order` of each bucket of priorities */
    int count[CLASSES][3]; /* contacts by class and run */
    int colours;           /* number of colours in use: 0 .. colours - 1 */
} TalusColouring;

static inline int talus_body_contact_count(const TalusOperator *op, int body)
{
    return op->incidence_start[body + 1] - op->incidence_start[body];
}

static inline bool talus_body_is_heavy(const TalusOperator *op, int body)
{
    return body >= 0 && talus_body_contact_count(op, body) > HEAVY_CONTACTS;
}

/* Fills the colouring, whose memory is reused, from the contacts of a matrix-free operator. */
TalusStatus talus_colour_contacts(const TalusOperator *op, TalusColouring *colouring);
void talus_colouring_clear(TalusColouring *colouring);

#endif
