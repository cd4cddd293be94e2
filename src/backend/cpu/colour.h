/* backend/cpu/colour.h - colours of contacts: no two contacts of one colour share a body that impulses move, so that
 * threads can sweep them in parallel. */
#ifndef TALUS_BACKEND_CPU_COLOUR_H
#define TALUS_BACKEND_CPU_COLOUR_H

#include "backend/operator.h"

/* Colours 0..61 come from greedy first fit in contact order. A body with more than HEAVY_CONTACTS contacts would need
 * a colour for each. Its contacts form a class of their own: they see the body's velocity frozen and its mass split
 * among them (sweep.c). Contacts without a free colour (overflow) are swept one by one. */
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
    uint64_t *used;        /* bit c: colour c is taken; [bodies], of an explicit matrix [blocks] */
    int count[CLASSES][3]; /* contacts by class and run */
    int colours;           /* number of colours in use */
} TalusColouring;

static inline int talus_body_contacts(const TalusOperator *op, int body)
{
    return op->incidence_start[body + 1] - op->incidence_start[body];
}

static inline bool talus_is_heavy(const TalusOperator *op, int body)
{
    return body >= 0 && talus_body_contacts(op, body) > HEAVY_CONTACTS;
}

/* Fills the colouring, whose memory is reused, from the contacts of a matrix-free operator. */
TalusStatus talus_colour_contacts(const TalusOperator *op, TalusColouring *colouring);
void talus_colouring_clear(TalusColouring *colouring);

#endif
