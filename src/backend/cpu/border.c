/* backend/cpu/border.c - the order in which a rank computes its part of a product, so that velocities travel behind the
 * work (comm/halo.h).
 *
 * A rank first computes the velocities of the bodies that other ranks need, and sends them. While messages are under
 * way it computes those of its other bodies, then goes over its inner groups of contacts, which have no body of the halo.
 * The other groups, those of the border, come last. If all has come before the groups begin, they keep their order. Sums
 * are stored by group (sums.c), so that the order changes no bit. Velocities of the halo's bodies are not computed, as
 * their owners send them.
 *
 * A whole problem has no halo: its loops are those over all bodies and groups. */
#include "backend/cpu/cpu.h"

#include "backend/part.h"
#include "base/memory.h"
#include "base/profile.h"

#include <string.h>

/* Number of groups that each thread goes over before the messages are let get on: some hundred microseconds. */
enum { GROUPS_AHEAD = 16 };

/* ---- lists ---- */

/* Lists the own bodies, first those that other ranks need. */
static TalusStatus list_bodies(const TalusOperator *op, TalusBorder *b)
{
    const TalusHalo *halo = op->halo;
    const size_t bodies = (size_t)op->bodies;
    TALUS_TRY(TALUS_GROW(b->body, bodies + 1, 0, "own bodies"));
    TALUS_TRY(TALUS_GROW(b->is_sent, bodies + 1, 0, "own bodies"));
    memset(b->is_sent, 0, bodies);
    for (int k = 0; k < halo->send_start[halo->neighbours]; k++)
        b->is_sent[halo->send_body[k]] = 1;
    b->bodies = 0;
    for (int i = 0; i < op->bodies; i++)
        if (b->is_sent[i])
            b->body[b->bodies++] = i;
    b->sent = b->bodies;
    for (int i = 0; i < op->bodies; i++)
        if (halo->owned[i] && !b->is_sent[i])
            b->body[b->bodies++] = i;
    return TALUS_OK;
}

/* True if the rank owns all bodies of the blocks [begin, end). */
static bool is_inner(const TalusOperator *op, int begin, int end)
{
    const uint8_t *owned = op->halo->owned;
    for (int i = begin; i < end; i++) {
        const int32_t *pair = op->pair[i];
        if (!owned[pair[0]] || (pair[1] >= 0 && !owned[pair[1]]))
            return false;
    }
    return true;
}

/* Lists the groups, inner ones first. */
static TalusStatus list_groups(const TalusOperator *op, TalusBorder *b)
{
    const TalusGroups *groups = &op->scratch->groups;
    TALUS_TRY(TALUS_GROW(b->group, (size_t)groups->count + 1, 0, "groups"));
    b->inner = 0;
    for (int g = 0; g < groups->count; g++)
        if (is_inner(op, groups->start[g], groups->start[g + 1]))
            b->group[b->inner++] = g;
    for (int g = 0, k = 0, end = b->inner; g < groups->count; g++)
        if (k < b->inner && b->group[k] == g)
            k++;
        else
            b->group[end++] = g;
    return TALUS_OK;
}

TalusStatus talus_cpu_list_border(const TalusOperator *op)
{
    TalusBorder *b = &op->scratch->border;
    if (!op->halo || !op->pair)
        return TALUS_OK;
    TALUS_TRY(list_bodies(op, b));
    return list_groups(op, b);
}

/* ---- loops over stretches of a list ---- */

/* A loop over a list of bodies or groups, from the place `first` on. */
typedef struct ListLoop {
    const TalusOperator *op;
    int first;
    TalusLoopFn *fn;
    void *context;
    const char *name;
    double bytes_each; /* that an item must move (base/profile.h) */
} ListLoop;

/* Calls the function for the runs of consecutive bodies among places [begin, end) of the loop. */
static void call_for_bodies(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const ListLoop *loop = context;
    const int32_t *body = loop->op->scratch->border.body + loop->first;
    for (int64_t k = begin, next; k < end; k = next) {
        for (next = k + 1; next < end && body[next] == body[next - 1] + 1; next++)
            ;
        loop->fn(loop->context, body[k], body[next - 1] + 1, chunk);
    }
}

/* Calls the function for one group. */
static void call_for_group(void *context, int64_t begin, int64_t end, int64_t place)
{
    const ListLoop *loop = context;
    const TalusHostScratch *s = loop->op->scratch;
    const int32_t group = s->border.group[loop->first + place];
    (void)begin;
    (void)end;
    loop->fn(loop->context, s->groups.start[group], s->groups.start[group + 1], group);
}

/* Runs the loop over the places [first, end). */
static void run_list(ListLoop *loop, int first, int end, int grain, TalusLoopFn *call)
{
    loop->first = first;
    talus_profile_expect_bytes((end - first) * loop->bytes_each);
    talus_parallel_named(loop->op->pool, end - first, grain, call, loop, loop->name);
}

void talus_cpu_compute_and_send_named(const TalusOperator *op, TalusLoopFn *fn, void *context,
                                      void *records, size_t bytes, const char *name)
{
    const TalusBorder *b = &op->scratch->border;
    if (!op->halo || op->halo->comm->size == 1) {
        talus_parallel_named(op->pool, op->bodies, BODY_GRAIN, fn, context, name);
        return;
    }
    ListLoop loop = {.op = op,
                     .fn = fn,
                     .context = context,
                     .name = name,
                     .bytes_each = talus_profile_expected_bytes() / talus_max(1.0, op->bodies)};
    run_list(&loop, 0, b->sent, BODY_GRAIN, call_for_bodies);
    talus_halo_begin_exchange(op->halo, records, bytes);
    run_list(&loop, b->sent, b->bodies, BODY_GRAIN, call_for_bodies);
}

/* Goes over the inner groups, and lets messages get on until they have come. */
static void run_inner_groups(ListLoop *loop)
{
    const TalusOperator *op = loop->op;
    const int inner = op->scratch->border.inner;
    const int step = GROUPS_AHEAD * talus_pool_threads(op->pool);
    bool arrived = false;
    for (int first = 0, end; first < inner; first = end) {
        end = arrived || inner - first < step ? inner : first + step;
        run_list(loop, first, end, 1, call_for_group);
        arrived = talus_halo_advance_exchange(op->halo);
    }
}

void talus_cpu_for_each_group_when_ready_named(const TalusOperator *op, TalusLoopFn *fn,
                                               void *context, const char *name)
{
    const TalusGroups *groups = &op->scratch->groups;
    if (talus_halo_advance_exchange(op->halo)) { /* in order, as neighbouring groups share bodies */
        talus_halo_finish_exchange(op->halo);
        talus_cpu_for_each_group_named(op, fn, context, name);
        return;
    }
    ListLoop loop = {.op = op,
                     .fn = fn,
                     .context = context,
                     .name = name,
                     .bytes_each = talus_profile_expected_bytes() / talus_max(1.0, groups->count)};
    run_inner_groups(&loop);
    talus_halo_finish_exchange(op->halo);
    run_list(&loop, op->scratch->border.inner, groups->count, 1, call_for_group);
    talus_cpu_for_each_positioned_group_named(op, fn, context, name);
}

void talus_cpu_for_each_block_when_ready_named(const TalusOperator *op, TalusLoopFn *fn,
                                               void *context, const char *name)
{
    if (talus_halo_is_under_way(op->halo))
        talus_cpu_for_each_group_when_ready_named(op, fn, context, name);
    else
        talus_parallel_named(op->pool, op->blocks, BLOCK_GRAIN, fn, context, name);
}
