/* solvers/multigrid/amg_rigid.c - interpolation by rigid clusters: transfer=velocity.
 *
 * Let F be the contacts within clusters of bodies and C those between clusters. Impulses e_C give each cluster a
 * momentum and so a rigid motion. Impulses e_F within the cluster cannot change this motion, since their momenta
 * cancel, but can make the cluster move as rigidly as possible: they minimise the energy e'Ae over e_F, which gives e_F
 * = -A_FF^+ A_FC e_C. So the velocities of clusters are transferred between levels, and the impulses within clusters
 * follow by least squares. The velocities are unique though e_F is not. A_FF has one block per cluster, so each cluster
 * is computed by itself. The code needs no bodies: a cluster is any set of rows that coarse rows separate from others.
 *
 * Besides P e_C, every cluster corrects its own residual by -A_FF^+ g_F. If the coarse problem were solved exactly and
 * no bound were reached, the sum of both corrections would give the solution. The method is block elimination of the
 * clusters, so the coarse matrix fills up as in any elimination. */
#include "solvers/multigrid/amg.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* Work memory for computing P. The fence of a cluster is the set of coarse rows coupled to it. `fence`, `seen` and
 * `length` are in the allocation of `index`. */
typedef struct Fences {
    TalusAmgLevel *l;
    int32_t *index;   /* [rows]: index of a fine row in its cluster, of a coarse one in `fence` */
    int32_t *fence;   /* [rows]: coarse rows around the current cluster */
    int32_t *seen;    /* [rows]: last cluster in whose fence the row was; -1: none */
    int32_t *length;  /* [rows]: entries in the row of P */
    double *response; /* -A_FF^+ A_FC of the current cluster, one column per row of the fence */
} Fences;

void talus_amg_clusters_clear(TalusAmgClusters *c)
{
    TALUS_RELEASE(c->start, c->factor_start, c->factor);
    *c = (TalusAmgClusters){0};
}

/* Number of rows of cluster k. */
static int count_rows(const TalusAmgClusters *c, int k)
{
    return c->start[k + 1] - c->start[k];
}

/* Address of the factors of cluster k. */
static double *cluster_factor(const TalusAmgClusters *c, int k)
{
    return c->factor + c->factor_start[k];
}

/* Allocates the factors of all clusters, whose rows must be sorted, and `packed`. */
static TalusStatus reserve_factors(TalusAmgClusters *c)
{
    int max = 0;
    TALUS_TRY(TALUS_ALLOC(c->factor_start, (size_t)c->count + 1, "clusters"));
    for (int k = 0; k < c->count; k++) {
        c->factor_start[k + 1] =
            c->factor_start[k] + (size_t)count_rows(c, k) * (size_t)count_rows(c, k);
        max = count_rows(c, k) > max ? count_rows(c, k) : max;
    }
    TALUS_TRY(TALUS_ALLOC(c->factor, c->factor_start[c->count] + (size_t)max, "clusters"));
    c->packed = c->factor + c->factor_start[c->count];
    return TALUS_OK;
}

/* Counts the clusters, lists the rows of each in start and row, and reserves the factors. */
static TalusStatus sort_rows_by_cluster(TalusAmgClusters *c, const int32_t *cluster, int n)
{
    for (int i = 0; i < n; i++)
        c->count = cluster[i] >= c->count ? cluster[i] + 1 : c->count;
    size_t count = (size_t)c->count;
    TALUS_TRY(TALUS_ALLOC(c->start, count + 1 + (size_t)n, "clusters"));
    c->row = c->start + count + 1;
    for (int i = 0; i < n; i++)
        if (cluster[i] >= 0)
            c->start[cluster[i] + 1]++;
    for (int k = 0; k < c->count; k++)
        c->start[k + 1] += c->start[k];
    for (int i = 0; i < n; i++)
        if (cluster[i] >= 0)
            c->row[c->start[cluster[i]]++] = i;
    memmove(c->start + 1, c->start, count * sizeof *c->start);
    c->start[0] = 0;
    return reserve_factors(c);
}

/* Lists the coarse rows around cluster k in f->fence and numbers them in f->index. Returns their number. */
static int find_fence(Fences *f, int k)
{
    const TalusSparse *a = &f->l->a;
    const TalusAmgClusters *c = &f->l->clusters;
    int count = 0;
    for (int32_t r = c->start[k]; r < c->start[k + 1]; r++)
        for (int32_t m = a->start[c->row[r]]; m < a->start[c->row[r] + 1]; m++) {
            int32_t j = a->column[m];
            if (f->l->coarse[j] < 0 || f->seen[j] == k)
                continue;
            f->seen[j] = k;
            f->index[j] = count;
            f->fence[count++] = j;
        }
    return count;
}

/* Copies the matrix A_FF of cluster k to where its factors will be and -A_FC, by columns, to f->response. Both must be
 * 0, and find_fence must have been called for k. */
static void copy_matrices(Fences *f, int k)
{
    const TalusSparse *a = &f->l->a;
    const TalusAmgClusters *c = &f->l->clusters;
    const int32_t *row = c->row + c->start[k];
    int n = count_rows(c, k);
    double *matrix = cluster_factor(c, k);
    for (int r = 0; r < n; r++)
        f->index[row[r]] = r;
    for (int r = 0; r < n; r++)
        for (int32_t m = a->start[row[r]]; m < a->start[row[r] + 1]; m++) {
            int32_t j = a->column[m];
            if (f->l->coarse[j] >= 0)
                f->response[f->index[j] * n + r] = -a->value[m];
            else if (f->l->taken[j])
                matrix[r * n + f->index[j]] = a->value[m];
        }
}

/* Computes the factors of cluster k and fills its rows of P. Adds about the number of multiplications to *cost. */
static TalusStatus fill_cluster_rows(Fences *f, int k, double *cost)
{
    const TalusAmgClusters *c = &f->l->clusters;
    TalusSparse *p = &f->l->p;
    int n = count_rows(c, k), fence = find_fence(f, k);
    size_t size = (size_t)n * (size_t)fence;
    TALUS_TRY(TALUS_GROW(f->response, size, 0, "responses of a cluster"));
    if (size)
        memset(f->response, 0, size * sizeof *f->response);
    copy_matrices(f, k);
    talus_amg_dense_factor(n, cluster_factor(c, k));
    for (int j = 0; j < fence; j++)
        talus_amg_dense_substitute(n, cluster_factor(c, k), f->response + j * n);
    *cost += (double)n * n * (n / 6.0 + fence);
    for (int r = 0; r < n; r++)
        for (int j = 0; j < fence; j++) {
            int32_t at = p->start[c->row[c->start[k] + r]] + j;
            p->column[at] = f->l->coarse[f->fence[j]];
            p->value[at] = f->response[j * n + r];
        }
    return TALUS_OK;
}

/* Marks all rows as in no fence yet. */
static void reset_seen(Fences *f)
{
    for (int i = 0; i < f->l->a.rows; i++)
        f->seen[i] = -1;
}

/* Allocates P with `count` columns, sets the starts of all its rows and fills the coarse rows. */
static TalusStatus allocate_p(Fences *f, int count)
{
    TalusAmgLevel *l = f->l;
    const TalusAmgClusters *c = &l->clusters;
    size_t entries = 0;
    reset_seen(f);
    for (int k = 0; k < c->count; k++) {
        int fence = find_fence(f, k);
        for (int32_t r = c->start[k]; r < c->start[k + 1]; r++)
            f->length[c->row[r]] = fence;
    }
    for (int i = 0; i < l->a.rows; i++) {
        f->length[i] = l->coarse[i] >= 0 ? 1 : f->length[i];
        entries += (size_t)f->length[i];
    }
    TALUS_TRY(talus_sparse_alloc(&l->p, l->a.rows, count, entries, "interpolation"));
    for (int i = 0; i < l->a.rows; i++) {
        l->p.start[i + 1] = l->p.start[i] + f->length[i];
        if (l->coarse[i] < 0)
            continue;
        l->p.column[l->p.start[i]] = l->coarse[i];
        l->p.value[l->p.start[i]] = 1.0;
    }
    return TALUS_OK;
}

/* Allocates and fills P and computes the factors of all clusters. Adds about the number of multiplications to *cost. */
static TalusStatus fill_p(Fences *f, int count, double *cost)
{
    TALUS_TRY(allocate_p(f, count));
    reset_seen(f);
    for (int k = 0; k < f->l->clusters.count; k++)
        TALUS_TRY(fill_cluster_rows(f, k, cost));
    return TALUS_OK;
}

TalusStatus talus_amg_interpolate_rigid(TalusAmgLevel *l, const int32_t *cluster, int count,
                                        double *cost)
{
    size_t n = (size_t)l->a.rows;
    Fences f = {.l = l};
    talus_amg_clusters_clear(&l->clusters);
    TALUS_TRY(sort_rows_by_cluster(&l->clusters, cluster, l->a.rows));
    TALUS_TRY(TALUS_ALLOC(f.index, 4 * n, "clusters"));
    f.fence = f.index + n;
    f.seen = f.fence + n;
    f.length = f.seen + n;
    TalusStatus status = fill_p(&f, count, cost);
    TALUS_RELEASE(f.index, f.response);
    return status;
}

double talus_amg_clusters_correct(TalusAmgLevel *l)
{
    const TalusAmgClusters *c = &l->clusters;
    double cost = 0.0, *packed = c->packed;
    for (int k = 0; k < c->count; k++) {
        const int32_t *row = c->row + c->start[k];
        int n = count_rows(c, k);
        for (int r = 0; r < n; r++)
            packed[r] = -l->g[row[r]];
        talus_amg_dense_substitute(n, cluster_factor(c, k), packed);
        for (int r = 0; r < n; r++)
            l->d[row[r]] += packed[r];
        cost += (double)n * n;
    }
    return cost;
}
