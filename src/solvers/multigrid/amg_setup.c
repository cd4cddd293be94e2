/* solvers/multigrid/amg_setup.c - builds and releases the hierarchy of matrices, level by level. */
#include "solvers/multigrid/amg.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* A coarser level is added if it has at least the share GAIN fewer rows than take part in the coarsening (a small
 * problem is exempt: inject_all_rows), and if its matrix has at most MAX_GROWTH times the entries of the finest matrix:
 * a fuller one costs more than it saves. */
static const double GAIN = 0.1, MAX_GROWTH = 4.0;

TalusStatus talus_amg_level_allocate(TalusAmgLevel *l)
{
    enum { VECTORS = 7 };
    size_t n = (size_t)l->a.rows;
    double **const vector[VECTORS] = {&l->diagonal, &l->x,     &l->q,    &l->g,
                                      &l->d,        &l->lower, &l->upper};
    TALUS_TRY(TALUS_ALLOC(l->memory, VECTORS * n, "vectors of a level"));
    TALUS_TRY(TALUS_ALLOC(l->coarse, n, "vectors of a level"));
    TALUS_TRY(TALUS_ALLOC(l->kind, n, "vectors of a level"));
    TALUS_TRY(TALUS_ALLOC(l->taken, n, "vectors of a level"));
    for (int k = 0; k < VECTORS; k++)
        *vector[k] = l->memory + (size_t)k * n;
    for (int i = 0; i < l->a.rows; i++)
        for (int32_t k = l->a.start[i]; k < l->a.start[i + 1]; k++)
            if (l->a.column[k] == i)
                l->diagonal[i] = l->a.value[k];
    return TALUS_OK;
}

void talus_amg_clear_levels(TalusAmg *amg, int first)
{
    for (int k = first > 0 ? first - 1 : 0; k < TALUS_AMG_LEVELS; k++) {
        talus_sparse_clear(&amg->level[k].p);
        talus_amg_clusters_clear(&amg->level[k].clusters);
    }
    for (int k = first; k < TALUS_AMG_LEVELS; k++) {
        TalusAmgLevel *l = &amg->level[k];
        talus_sparse_clear(&l->a);
        TALUS_RELEASE(l->memory, l->coarse, l->kind, l->taken);
        *l = (TalusAmgLevel){0};
    }
    TALUS_RELEASE(amg->dense, amg->state);
    amg->dense = NULL;
    amg->state = NULL;
    amg->levels = 0;
}

/* Chooses the rows of the next level by Ruge and Stueben's splitting, their number in *count, and computes P. */
static TalusStatus coarsen_classical(TalusAmg *amg, TalusAmgLevel *l, int *count)
{
    TalusSparse strong = {0};
    TalusStatus status = talus_amg_find_strong(l, amg->params, &strong);
    TALUS_THEN(status, talus_amg_split_rows(l, &strong, amg->params->passes, count));
    TALUS_THEN(status, talus_amg_interpolate_classical(l, &strong, *count, &l->p, &amg->cost));
    talus_sparse_clear(&strong);
    return status;
}

/* Forms clusters, makes the rows between them the next level, their number in *count, and computes P. */
static TalusStatus coarsen_clusters(TalusAmg *amg, TalusAmgLevel *l, int *count)
{
    int32_t *cluster;
    TALUS_TRY(TALUS_ALLOC(cluster, (size_t)l->a.rows, "clusters"));
    TalusStatus status = talus_amg_form_clusters(l, amg->params->cluster, cluster, count);
    TALUS_THEN(status, talus_amg_interpolate_rigid(l, cluster, *count, &amg->cost));
    talus_release(cluster);
    return status;
}

/* Number of rows of a level that take part in the coarsening. */
static int count_taken_rows(const TalusAmgLevel *l)
{
    int count = 0;
    for (int i = 0; i < l->a.rows; i++)
        count += l->taken[i];
    return count;
}

/* Allocates the vectors of a level, copies the kinds of its rows from the finer level `above`, and lets all rows with a
 * positive diagonal entry take part in the coarsening. */
static TalusStatus set_up_level(const TalusAmgLevel *above, TalusAmgLevel *l)
{
    TALUS_TRY(talus_amg_level_allocate(l));
    for (int i = 0; i < above->a.rows; i++)
        if (above->coarse[i] >= 0)
            l->kind[above->coarse[i]] = above->kind[i];
    for (int i = 0; i < l->a.rows; i++)
        l->taken[i] = l->diagonal[i] > 0.0;
    return TALUS_OK;
}

/* For a small problem: the next level, which is solved directly, gets all rows that take part. P copies their
 * values. */
static TalusStatus inject_all_rows(TalusAmgLevel *l, int rows)
{
    int count = 0;
    TALUS_TRY(talus_sparse_alloc(&l->p, l->a.rows, rows, (size_t)rows, "interpolation"));
    for (int i = 0; i < l->a.rows; i++) {
        l->coarse[i] = l->taken[i] ? count : -1;
        if (l->taken[i]) {
            l->p.column[count] = count;
            l->p.value[count++] = 1.0;
        }
        l->p.start[i + 1] = count;
    }
    return TALUS_OK;
}

/* Chooses the rows of level k + 1, their number in *count, and computes P of level k. *count is 0 if no further level
 * is worthwhile. */
static TalusStatus coarsen(TalusAmg *amg, int k, int *count)
{
    TalusAmgLevel *l = &amg->level[k];
    int rows = count_taken_rows(l);
    *count = 0;
    if (rows <= amg->params->coarsest) {
        *count = k == 0 ? rows : 0;
        return *count ? inject_all_rows(l, rows) : TALUS_OK;
    }
    TALUS_TRY(amg->params->transfer == AMG_VELOCITY ? coarsen_clusters(amg, l, count)
                                                    : coarsen_classical(amg, l, count));
    *count = *count <= (1.0 - GAIN) * rows ? *count : 0;
    return TALUS_OK;
}

/* Adds level k + 1 if it is worthwhile; *more: true if it was added. */
static TalusStatus add_level(TalusAmg *amg, int k, bool *more)
{
    TalusAmgLevel *l = &amg->level[k], *next = l + 1;
    int count = 0;
    *more = false;
    if (k + 1 >= TALUS_AMG_LEVELS)
        return TALUS_OK;
    TALUS_TRY(coarsen(amg, k, &count));
    if (count)
        TALUS_TRY(talus_amg_coarse_matrix(&l->a, &l->p, &next->a, &amg->cost));
    *more = count && talus_sparse_entries(&next->a) <= MAX_GROWTH * amg->finest_entries;
    if (*more)
        return set_up_level(l, next);
    talus_sparse_clear(&next->a);
    talus_sparse_clear(&l->p);
    talus_amg_clusters_clear(&l->clusters);
    return TALUS_OK;
}

/* Stores the matrix of the coarsest level as a dense one, if that level is not level 0 and has at most `coarsest`
 * rows. */
static TalusStatus store_dense_coarsest(TalusAmg *amg)
{
    const TalusAmgLevel *l = &amg->level[amg->levels - 1];
    size_t n = (size_t)l->a.rows;
    if (amg->levels < 2 || l->a.rows > amg->params->coarsest)
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(amg->dense, 2 * n * n + 3 * n, "coarsest level"));
    TALUS_TRY(TALUS_ALLOC(amg->state, n, "coarsest level"));
    amg->factor = amg->dense + n * n;
    amg->dense_vector = amg->factor + n * n;
    for (size_t i = 0; i < n; i++)
        for (int32_t k = l->a.start[i]; k < l->a.start[i + 1]; k++)
            amg->dense[i * n + (size_t)l->a.column[k]] = l->a.value[k];
    return TALUS_OK;
}

TalusStatus talus_amg_build_levels(TalusAmg *amg)
{
    TalusStatus status = TALUS_OK;
    double before = amg->cost;
    bool more = true;
    talus_amg_clear_levels(amg, 1);
    amg->cost = 0.0; /* number of multiplications, until the loop ends */
    for (int k = 0; status == TALUS_OK && more; k++) {
        status = add_level(amg, k, &more);
        amg->levels = k + 1;
    }
    amg->cost = before + amg->cost / amg->finest_entries;
    TALUS_THEN(status, store_dense_coarsest(amg));
    if (status != TALUS_OK)
        talus_amg_clear_levels(amg, 1);
    return status;
}
