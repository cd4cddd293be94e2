/* backend/cpu/colour.c - greedy colouring in contact order: serial, so independent of the number of threads. */
#include "backend/cpu/colour.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* Returns the run (storage form) of contact i: 0 sphere-sphere, 1 sphere-fixed, 2 general. */
static int run_of(const TalusOperator *op, int i)
{
    return i < op->sphere_sphere ? 0 : i < op->sphere_sphere + op->sphere_fixed ? 1 : 2;
}

/* Returns contact i's class: CLASS_HEAVY, the lowest colour free at both bodies (marked there), or CLASS_OVERFLOW. */
static int class_of(const TalusOperator *op, TalusColouring *c, int i)
{
    int32_t a = op->pair[i][0], b = op->pair[i][1];
    if (talus_is_heavy(op, a) || talus_is_heavy(op, b))
        return CLASS_HEAVY;
    /* Loops over packs of spheres write both bodies; other loops skip bodies that impulses do not move. */
    bool spheres = run_of(op, i) < 2;
    bool a_yields = spheres || talus_body_yields(op, a);
    bool b_yields = b >= 0 && (spheres || talus_body_yields(op, b));
    uint64_t taken = (a_yields ? c->used[a] : 0) | (b_yields ? c->used[b] : 0);
    uint64_t open = ~taken & ((UINT64_C(1) << COLOURS) - 1);
    if (!open)
        return CLASS_OVERFLOW;
    uint64_t bit = open & (~open + 1);
    if (a_yields)
        c->used[a] |= bit;
    if (b_yields)
        c->used[b] |= bit;
    return __builtin_ctzll(open);
}

TalusStatus talus_colour_contacts(const TalusOperator *op, TalusColouring *c)
{
    size_t blocks = (size_t)op->blocks, bodies = (size_t)op->bodies;
    TALUS_TRY(TALUS_GROW(c->class_of, blocks, 0, "colours"));
    TALUS_TRY(TALUS_GROW(c->place, blocks, 0, "colours"));
    TALUS_TRY(TALUS_GROW(c->used, bodies, 0, "colours"));
    memset(c->used, 0, bodies * sizeof *c->used);
    memset(c->count, 0, sizeof c->count);
    c->colours = 0;
    for (int i = 0; i < op->blocks; i++) {
        int class = class_of(op, c, i);
        int run = class < COLOURS ? run_of(op, i) : 2;
        c->class_of[i] = (uint8_t) class;
        c->place[i] = c->count[class][run]++;
        if (class < COLOURS && class >= c->colours)
            c->colours = class + 1;
    }
    return TALUS_OK;
}

void talus_colouring_clear(TalusColouring *c)
{
    TALUS_RELEASE(c->class_of, c->place, c->used);
}
