/* linalg/eliminate.c - elimination of joints: memory, factorisation of all machines, solutions, reduction of the
 * bodies' M^-1. The order is in eliminate_order.c, the factor of one machine in eliminate_factor.c. */
#include "linalg/eliminate_parts.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* Machines per chunk of a parallel loop. */
enum { MACHINE_GRAIN = 4 };

/* ---- memory ---- */

TalusStatus talus_elimination_create(TalusElimination **out)
{
    TALUS_TRY(TALUS_ALLOC(*out, 1, "elimination of joints"));
    (*out)->analysed_rows = -1;
    return TALUS_OK;
}

void talus_elimination_destroy(TalusElimination *e)
{
    if (!e)
        return;
    TALUS_RELEASE(e->row, e->key, e->moving, e->caller_row, e->first_row, e->vertex, e->body,
                  e->vertex_body, e->reduction, e->start, e->below, e->block_at, e->body_vertex,
                  e->machine_start, e->machine_vertex, e->vertex_node, e->ordered,
                  e->vertex_node_start, e->diagonal_at, e->bias, e->scale, e->value, e->inverse,
                  e->unit, e->right, e->x, e->y, e->motion, e->rounds, e->redundant, e->work);
    talus_release(e);
}

TalusStatus talus_elimination_reserve_rows(TalusElimination *e, int count, TalusJointRow **row)
{
    TALUS_TRY(TALUS_GROW(e->row, (size_t)count, 0, "rows of joints"));
    e->rows = count;
    *row = e->row;
    return TALUS_OK;
}

/* ---- factorisation ---- */

/* Reserves the arrays of numbers, and the bodies of nodes and vertices, for the sizes of the analysis. */
static TalusStatus reserve_numbers(TalusElimination *e)
{
    size_t n = (size_t)e->rows, entries = (size_t)e->diagonal_at[e->nodes];
    size_t machines = (size_t)e->machines;
    TALUS_TRY(TALUS_GROW(e->ordered, n, 0, "rows of joints"));
    TALUS_TRY(TALUS_GROW(e->bias, n, 0, "offsets of joints"));
    TALUS_TRY(TALUS_GROW(e->scale, n, 0, "rows of joints"));
    TALUS_TRY(TALUS_GROW(e->value, entries, 0, "factor of joints"));
    TALUS_TRY(TALUS_GROW(e->inverse, entries, 0, "inverse of joints"));
    TALUS_TRY(TALUS_GROW(e->unit, entries, 0, "inverse of joints"));
    TALUS_TRY(TALUS_GROW(e->right, n, 0, "impulses of joints"));
    TALUS_TRY(TALUS_GROW(e->x, n, 0, "impulses of joints"));
    TALUS_TRY(TALUS_GROW(e->y, n, 0, "impulses of joints"));
    TALUS_TRY(TALUS_GROW(e->motion, (size_t)e->vertices, 0, "jointed bodies"));
    TALUS_TRY(TALUS_GROW(e->reduction, (size_t)e->vertices, 0, "jointed bodies"));
    TALUS_TRY(TALUS_GROW(e->vertex_body, (size_t)e->vertices, 0, "jointed bodies"));
    TALUS_TRY(TALUS_GROW(e->body, (size_t)e->nodes, 0, "bodies of joints"));
    TALUS_TRY(TALUS_GROW(e->rounds, machines, 0, "machines"));
    return TALUS_GROW(e->redundant, machines, 0, "machines");
}

/* Copies the caller's rows to `ordered` in the order of elimination, with their bias, and sets the bodies of nodes and
 * vertices. */
static void order_rows(TalusElimination *e)
{
    for (int p = 0; p < e->nodes; p++) {
        for (int k = 0; k < node_size(e, p); k++) {
            e->ordered[e->first_row[p] + k] = e->row[e->caller_row[p] + k];
            e->bias[e->first_row[p] + k] = e->row[e->caller_row[p] + k].bias;
        }
        for (int side = 0; side < 2; side++) {
            e->body[p][side] = e->row[e->caller_row[p]].body[side];
            if (e->vertex[p][side] >= 0)
                e->vertex_body[e->vertex[p][side]] = e->body[p][side];
        }
    }
}

/* Factorises the machines from `begin` to `end`; called in parallel. */
static void factor_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    for (int64_t m = begin; m < end; m++)
        talus_elimination_factor_machine(context, (int)m);
}

TalusStatus talus_elimination_factor(TalusElimination *e, TalusPool *pool, int bodies)
{
    e->pool = pool;
    e->bodies = bodies;
    TALUS_TRY(talus_elimination_analyse(e));
    TALUS_TRY(reserve_numbers(e));
    order_rows(e);
    talus_parallel(pool, e->machines, MACHINE_GRAIN, factor_chunk, e);
    for (int m = 0; m < e->machines; m++)
        if (e->rounds[m] < 0)
            return talus_fail(TALUS_ERR_NUMERIC,
                              "joints: a row of the machine of bodies %d and %d is not finite",
                              e->ordered[e->first_row[e->machine_start[m]]].body[0],
                              e->ordered[e->first_row[e->machine_start[m]]].body[1]);
    return TALUS_OK;
}

/* ---- solutions ---- */

/* A parallel loop over machines that changes velocities. */
typedef struct Loop {
    TalusMachines machines;
    double (*velocity)[8];
} Loop;

/* Applies talus_machine_apply to the machines from `begin` to `end`; called in parallel. */
static void apply_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Loop *loop = context;
    (void)chunk;
    for (int64_t m = begin; m < end; m++)
        talus_machine_apply(&loop->machines, (int)m, loop->velocity, talus_team_of_one);
}

void talus_elimination_apply(TalusElimination *e, bool offset, double (*velocity)[8])
{
    Loop loop = {talus_elimination_machines(e), velocity};
    if (!offset)
        loop.machines.bias = NULL;
    talus_parallel(e->pool, e->machines, MACHINE_GRAIN, apply_chunk, &loop);
}

/* x = A^-1 (D' velocity + b) with zero velocities and the right-hand side in place of b. */
void talus_elimination_solve(TalusElimination *e, double *x)
{
    Loop loop = {talus_machines_by_vertex(e, e->right), e->motion};
    memset(e->motion, 0, (size_t)e->vertices * sizeof *e->motion);
    for (int p = 0; p < e->nodes; p++)
        memcpy(e->right + e->first_row[p], x + e->caller_row[p],
               (size_t)node_size(e, p) * sizeof *x);
    talus_parallel(e->pool, e->machines, MACHINE_GRAIN, apply_chunk, &loop);
    talus_elimination_get_solution(e, x);
}

void talus_elimination_get_solution(const TalusElimination *e, double *x)
{
    for (int p = 0; p < e->nodes; p++)
        memcpy(x + e->caller_row[p], e->x + e->first_row[p], (size_t)node_size(e, p) * sizeof *x);
}

/* ---- reduction of M^-1 ---- */

/* Returns entry (k, l) of block (p, q) of A^-1. `block`: that block if p >= q, else block (q, p), its transpose. */
static double inverse_entry(const TalusElimination *e, const double *block, int p, int q, int k,
                            int l)
{
    return p >= q ? block[k * node_size(e, q) + l] : block[l * node_size(e, p) + k];
}

/* Adds to `taken`, the vertex's block of M^-1 D A^-1 D' M^-1, the term of the nodes p and q at the vertex. */
static void add_pair_reduction(const TalusElimination *e, int vertex, int p, int q,
                               double taken[36])
{
    const double *block = e->inverse + (p >= q ? block_of(e, p, q) : block_of(e, q, p));
    int side_p = node_side(e, p, vertex), side_q = node_side(e, q, vertex);
    for (int k = 0; k < node_size(e, p); k++)
        for (int l = 0; l < node_size(e, q); l++) {
            const double *a = e->ordered[e->first_row[p] + k].push[side_p];
            const double *b = e->ordered[e->first_row[q] + l].push[side_q];
            double z = inverse_entry(e, block, p, q, k, l);
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++)
                    taken[6 * i + j] += a[i] * z * b[j];
        }
}

/* Computes e->reduction of a vertex. */
static void sum_vertex_reduction(TalusElimination *e, int vertex)
{
    memset(e->reduction[vertex], 0, sizeof e->reduction[vertex]);
    for (int32_t i = e->vertex_node_start[vertex]; i < e->vertex_node_start[vertex + 1]; i++)
        for (int32_t j = e->vertex_node_start[vertex]; j < e->vertex_node_start[vertex + 1]; j++)
            add_pair_reduction(e, vertex, e->vertex_node[i], e->vertex_node[j],
                               e->reduction[vertex]);
}

/* Inverts the machines from `begin` to `end` and computes the reductions of their vertices; called in parallel. */
static void invert_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusElimination *e = context;
    (void)chunk;
    for (int64_t m = begin; m < end; m++) {
        talus_elimination_invert_machine(e, (int)m);
        for (int v = e->machine_vertex[m]; v < e->machine_vertex[m + 1]; v++)
            sum_vertex_reduction(e, v);
    }
}

void talus_elimination_invert(TalusElimination *e)
{
    talus_parallel(e->pool, e->machines, MACHINE_GRAIN, invert_chunk, e);
}

const int32_t *talus_elimination_body_vertices(const TalusElimination *e)
{
    return e->body_vertex;
}

const double (*talus_elimination_reductions(const TalusElimination *e))[36]
{
    return (const double(*)[36])e->reduction;
}

TalusEliminationFacts talus_elimination_facts(const TalusElimination *e)
{
    TalusEliminationFacts facts = {.nodes = e->nodes,
                                   .machines = e->machines,
                                   .vertices = e->vertices,
                                   .analyses = e->analyses,
                                   .entries = e->nodes ? e->diagonal_at[e->nodes] : 0};
    for (int m = 0; m < e->machines; m++) {
        facts.redundant += e->redundant[m];
        facts.rounds = e->rounds[m] > facts.rounds ? e->rounds[m] : facts.rounds;
    }
    return facts;
}
