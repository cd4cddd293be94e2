/* backend/cpu/sweep_sum.c - sum of the squared velocity changes of a coloured sweep, by which sweeps stop.
 *
 * The contacts of a pack have only their colour in common, so that sums by groups (backend/groups.h) are not possible.
 * Instead each term is rounded to a multiple of 2^-43 times the power of two above the largest term: sums of such
 * multiples are exact, in any order. If a term is NaN, so is the sum, unless the largest term is above 1e300. */
#include "backend/cpu/sweep.h"

#include "backend/groups.h"
#include "backend/part.h"
#include "base/memory.h"
#include "base/status.h"

#include <math.h>

/* A term is at most 2^TERM_BITS units; the TERM_GRAIN terms of a chunk then sum to at most 2^52 units, which is
 * exact. */
enum { TERM_BITS = 43, TERM_GRAIN = 512 };

/* Arguments of multiples_chunk. */
typedef struct TermLoop {
    const double *term;
    const float *single; /* NULL: the terms are doubles, `term` */
    double *partial;
    /* 1.5 2^52 times the unit: adding and subtracting it rounds a term to a multiple of the unit */
    double shifter;
} TermLoop;

/* Returns the sum of the terms [begin, end), each rounded to a multiple of the unit; single: they are floats. */
KERNEL double sum_multiples(const TermLoop *loop, bool single, int64_t begin, int64_t end)
{
    const Lane shifter = lane(loop->shifter);
    Lane sum[2] = {{0}, {0}};
    int64_t i = begin;
    for (; i + 2 * LANES <= end; i += 2 * LANES)
        for (int k = 0; k < 2; k++) {
            int64_t j = i + LANES * k;
            Lane term = single ? lane_load_floats(loop->single + j) : lane_load(loop->term + j);
            sum[k] += (term + shifter) - shifter;
        }
    for (; i < end; i++) {
        double term = single ? loop->single[i] : loop->term[i];
        sum[0] += (Lane){(term + loop->shifter) - loop->shifter, 0.0};
    }
    sum[0] += sum[1];
    return sum[0][0] + sum[0][1];
}

/* Stores the sum of a chunk's terms. */
static void multiples_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const TermLoop *loop = context;
    loop->partial[chunk] = loop->single ? sum_multiples(loop, true, begin, end)
                                        : sum_multiples(loop, false, begin, end);
}

TalusStatus talus_sweep_reserve_terms(TalusSweep *sweep, int64_t count)
{
    size_t chunks =
        (size_t)talus_chunks(count, ITEM_GRAIN); /* ITEM_GRAIN: no loop has smaller chunks */
    TALUS_TRY(TALUS_GROW(sweep->term, (size_t)count, 0, "velocity changes"));
    return TALUS_GROW(sweep->partial, chunks, 0, "partial sums");
}

double talus_sweep_largest(const TalusSweep *sweep, int64_t chunks)
{
    double most = 0.0;
    for (int64_t c = 0; c < chunks; c++)
        most = sweep->partial[c] > most ? sweep->partial[c] : most;
    return most;
}

/* Clears the terms of contacts that other ranks count. */
static void clear_uncounted(TalusSweep *sweep)
{
    const SweepPart *part = sweep->part;
    for (int k = 0; k < part->uncounted_count; k++) {
        if (sweep->is_single)
            sweep->single.term[part->uncounted[k]] = 0.0f;
        else
            sweep->term[part->uncounted[k]] = 0.0;
    }
}

/* Returns the sum of the partial sums of all ranks. */
static double sum_partials(const TalusSweep *sweep, int64_t chunks)
{
    TalusSum sum = {0};
    if (!sweep->op->halo)
        return talus_groups_sum(chunks, sweep->partial);
    talus_sum_add(&sum, sweep->partial, chunks);
    talus_comm_add_sums(sweep->op->halo->comm, &sum, 1);
    return talus_sum_value(&sum);
}

double talus_sweep_sum(TalusSweep *sweep, int64_t count, double largest)
{
    TermLoop loop = {.term = sweep->term,
                     .single = sweep->is_single ? sweep->single.term : NULL,
                     .partial = sweep->partial};
    int exponent;
    if (sweep->op->halo)
        clear_uncounted(sweep);
    if (largest > 1e300)
        return largest;        /* the sweep has diverged; the shifter would overflow */
    frexp(largest, &exponent); /* largest < 2^exponent */
    exponent = exponent < -1074 + TERM_BITS ? -1074 + TERM_BITS : exponent;
    loop.shifter = ldexp(1.5, 52 + exponent - TERM_BITS);
    talus_parallel(sweep->op->pool, count, TERM_GRAIN, multiples_chunk, &loop);
    return sum_partials(sweep, talus_chunks(count, TERM_GRAIN));
}
