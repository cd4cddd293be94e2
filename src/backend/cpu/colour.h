/* backend/cpu/colour.h - colours of contacts: no two contacts of one colour share a body that impulses move, so that
 * threads can sweep them in parallel. */
#ifndef TALUS_BACKEND_CPU_COLOUR_H
#define TALUS_BACKEND_CPU_COLOUR_H

#include "backend/priority.h"

#include <stdatomic.h>

/* Classes of contacts. Classes 0 to 61 are colours; each contact gets the lowest colour that is free at both bodies,
 * in the order of falling priority (backend/priority.h). CLASS_OVERFLOW: contacts for which no colour was free; they
 * are swept one by one. CLASS_HEAVY: contacts of a heavy body, which is one with more than HEAVY_CONTACTS contacts and
 * would need as many colours. sweep.c changes all heavy contacts at once, at the velocities before any of them changed
 * and with the body's mass divided among them; sweep_sparse.c sweeps them one by one. */
enum {
    COLOURS = 62,
    CLASS_OVERFLOW = 62,
    CLASS_HEAVY = 63, /* a or b is heavy */
    CLASSES = 64,
    HEAVY_CONTACTS = 40
};

/* The contacts of a body without a class, by falling priority. */
typedef struct TalusColourQueue {
    uint64_t used;         /* bit c: colour c is taken at this body */
    _Atomic int32_t first; /* the contact order[at]; -1: none is left */
    int32_t at, end;       /* place of the first contact in `order`, and of the end */
} TalusColourQueue;

/* The contact that is the first in a body's queue, and the colours taken there: what the body's owner tells other ranks. */
typedef struct TalusColourFront {
    uint64_t used;
    uint64_t other; /* number of the contact's other body; UINT64_MAX: the queue is empty */
    int32_t index;  /* talus_pair_index of the contact */
} TalusColourFront;

/* Memory for the colours of a rank's part of a problem (colour_part.c); unused for a whole problem. */
typedef struct TalusColourPart {
    int32_t *contact_count;  /* [bodies]: numbers of contacts in the whole problem */
    uint8_t *shared;         /* [blocks]: 1 if another rank has the contact, too */
    int32_t *waiting;        /* the shared contacts without a class */
    TalusColourFront *front; /* [bodies]: valid for those that ranks send each other */
} TalusColourPart;

/* Classes of contacts. Runs: 0 sphere-sphere, 1 sphere-fixed, 2 general; heavy and overflow contacts count as run 2. */
typedef struct TalusColouring {
    uint8_t *class_of; /* [blocks] */
    int32_t *place;    /* [blocks]: index within its class and run */
    /* bit c: colour c is taken at this body; for an explicit matrix by block. Bits above are colour.c's own. */
    uint64_t *used;
    /* Memory of the arrays that serve only to find the classes: priority to queue. A caller may lend a block of its own
     * during the call of talus_colour_contacts. */
    unsigned char *work;
    uint64_t *priority; /* [blocks] */
    /* Contacts by falling priority: all [blocks], or, for several threads, those of each body, of body b from start[b]
     * on. */
    int32_t *order;
    int32_t *bucket; /* one thread: first index in `order` of each bucket of priorities */
    /* Several threads; by chunk of contacts: `coloured`, number of contacts that got their class from its thread in the
     * last pass; count_of, its contacts by class and run */
    int32_t *start;
    TalusColourQueue *queue; /* [bodies] */
    int32_t *coloured;
    int32_t (*count_of)[CLASSES][3];
    int count[CLASSES][3]; /* contacts by class and run */
    int colours;           /* number of colours in use: 0 .. colours - 1; of a part: on any rank */
    TalusColourPart part;
} TalusColouring;

/* Returns the number of contacts of a body; 0 if impulses do not move it. */
static inline int talus_body_contact_count(const TalusOperator *op, int body)
{
    return op->incidence_start[body + 1] - op->incidence_start[body];
}

/* True if the body has more than HEAVY_CONTACTS contacts; false for the fixed world (-1). */
static inline bool talus_body_is_heavy(const TalusOperator *op, int body)
{
    return body >= 0 && talus_body_contact_count(op, body) > HEAVY_CONTACTS;
}

/* Returns the run of contact i. */
static inline int talus_contact_run(const TalusOperator *op, int i)
{
    return i < op->sphere_sphere ? 0 : i < op->sphere_sphere + op->sphere_fixed ? 1 : 2;
}

/* True if loops over a colour write the velocity of the contact's body a (side 0) or b (1): those over packs of spheres
 * write both bodies, other loops skip bodies that impulses do not move. */
static inline bool talus_colour_writes(const TalusOperator *op, int i, int side)
{
    int32_t body = op->pair[i][side];
    return body >= 0 && (talus_contact_run(op, i) < 2 || talus_body_yields(op, body));
}

/* True if contact i is coloured before contact j: its priority is higher or, if equal, talus_tie_comes_first. */
static inline bool talus_coloured_before(const TalusOperator *op, const uint64_t *priority,
                                         int32_t i, int32_t j)
{
    if (priority[i] != priority[j])
        return priority[i] > priority[j];
    const TalusContactKeys keys = talus_contact_keys(op);
    return talus_tie_comes_first(&keys, i, j);
}

/* Returns the bytes of TalusColouring.work that talus_colour_contacts needs. */
size_t talus_colour_work_bytes(const TalusOperator *op);
/* Fills the colouring with the classes of a matrix-free operator's contacts; its memory is reused. */
TalusStatus talus_colour_contacts(const TalusOperator *op, TalusColouring *colouring);
/* The same by all threads of the pool; class_of and place have their memory. _bytes: of its `work`. */
size_t talus_colour_parallel_bytes(const TalusOperator *op);
TalusStatus talus_colour_in_parallel(const TalusOperator *op, TalusColouring *colouring);
/* The same for a rank's part of a problem: the classes of the whole problem. Called by all ranks. */
TalusStatus talus_colour_part(const TalusOperator *op, TalusColouring *colouring);

/* Steps of talus_colour_in_parallel (colour_parallel.c), which talus_colour_part takes one by one. They leave contacts
 * that are shared with another rank alone. */
TalusStatus talus_colour_reserve_queues(const TalusOperator *op, TalusColouring *colouring);
/* Makes the queues. Returns the number of contacts of heavy bodies, which have their class now. */
int64_t talus_colour_start(const TalusOperator *op, TalusColouring *colouring);
/* Colours all contacts that need not wait for others; a few may be left to the next call. Returns their number. */
int64_t talus_colour_pass(const TalusOperator *op, TalusColouring *colouring);
/* Gives a shared contact the lowest colour that is not among `taken`, takes it out of the queues of the bodies that this
 * rank owns, and colours what waited for it. Returns the number of contacts that have their class now. */
int64_t talus_colour_shared(const TalusOperator *op, TalusColouring *colouring, int contact,
                            uint64_t taken);
/* Returns the contact that is the first in a body's queue; -1: the queue is empty. */
int32_t talus_colour_first(const TalusColouring *colouring, int body);
/* Fills `count`, `place` and `colours`, the latter from this rank's contacts. */
void talus_colour_number(const TalusOperator *op, TalusColouring *colouring);
/* Frees the arrays of the colouring. */
void talus_colouring_clear(TalusColouring *colouring);

#endif
