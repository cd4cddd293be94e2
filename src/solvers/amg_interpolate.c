/* solvers/amg_interpolate.c - interpolation of corrections from one level to the finer one, Eq. (22).
 *
 * Classical weights (Ruge and Stueben 1987). Row i of A e = 0 is solved for e_i: strong coarse neighbours C_i
 * are kept, weak ones are added to the diagonal, and a strong fine neighbour m is itself replaced by the
 * mean of C_i with the weights a_mk,
 *     w_ik = -(a_ik + sum_m a_im a_mk / sum_(l in C_i) a_ml) / (a_ii + sum of weak a_in).
 * That takes off-diagonal entries to be negative. Positive a_mk do not enter the mean, and where none remains
 * a_im goes to the diagonal as well.
 *
 * Rigid clusters: transfer=velocity. Let F be the contacts within clusters of bodies and C those between
 * clusters. Impulses e_C on the latter give each cluster a momentum, and with it a rigid motion, which the
 * contacts within cannot change, for their momenta cancel. What they can do is to make the cluster move as
 * nearly rigidly as possible: minimise the energy e'Ae over e_F, which is e_F = -A_FF^+ A_FC e_C. The
 * velocities are unique though e_F is not, and A_FF is made up of one block per cluster. */
#include "solvers/amg.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* ---- classical weights ---- */

/* A denominator below this share of a_ii has lost its digits: a_ii is taken. */
static const double LEAST = 1e-6;

static int32_t weights_of(const TalusAmgLevel *l, const TalusSparse *strong, int i)
{
    int32_t count = 0;
    if (l->coarse[i] >= 0)
        return 1;
    for (int32_t k = strong->start[i]; k < strong->start[i + 1]; k++)
        count += l->coarse[strong->column[k]] >= 0;
    return count;
}

/* What a_im of a strong fine neighbour m gives to the weights of the row that starts at `begin`; returns what
 * it gives to the diagonal. `place` tells where coarse rows are in P, if at or after `begin`. */
static double share_out(const TalusAmgLevel *l, int m, double a_im, int32_t begin,
                        const int32_t *place, double *value, double *work)
{
    const TalusSparse *a = &l->a;
    double sum = 0.0;
    for (int32_t k = a->start[m]; k < a->start[m + 1]; k++)
        if (place[a->column[k]] >= begin && a->value[k] < 0.0)
            sum += a->value[k];
    *work += a->start[m + 1] - a->start[m];
    if (!(sum < 0.0))
        return a_im;
    for (int32_t k = a->start[m]; k < a->start[m + 1]; k++)
        if (place[a->column[k]] >= begin && a->value[k] < 0.0)
            value[place[a->column[k]]] += a_im * a->value[k] / sum;
    return 0.0;
}

/* Row i of P, a fine one. `kept` marks its strong neighbours. */
static void classical_row(const TalusAmgLevel *l, const TalusSparse *strong, int32_t i,
                          int32_t *place, int32_t *kept, TalusSparse *p, double *work)
{
    const TalusSparse *a = &l->a;
    int32_t begin = p->start[i], at = begin;
    double denominator = l->diagonal[i];
    for (int32_t k = strong->start[i]; k < strong->start[i + 1]; k++) {
        int32_t j = strong->column[k];
        kept[j] = i;
        if (l->coarse[j] < 0)
            continue;
        place[j] = at;
        p->column[at] = l->coarse[j];
        p->value[at++] = strong->value[k];
    }
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
        int32_t j = a->column[k];
        if (j == i || !l->taken[j] || l->kind[j] != l->kind[i] ||
            (kept[j] == i && l->coarse[j] >= 0))
            continue;
        denominator +=
            kept[j] == i ? share_out(l, j, a->value[k], begin, place, p->value, work) : a->value[k];
    }
    if (!(denominator > LEAST * l->diagonal[i]))
        denominator = l->diagonal[i];
    for (int32_t k = begin; k < at; k++)
        p->value[k] /= -denominator;
}

static void fill_classical(const TalusAmgLevel *l, const TalusSparse *strong, int32_t *place,
                           int32_t *kept, TalusSparse *p, double *work)
{
    for (int32_t i = 0; i < l->a.rows; i++)
        place[i] = kept[i] = -1;
    for (int32_t i = 0; i < l->a.rows; i++)
        if (l->coarse[i] >= 0) {
            p->column[p->start[i]] = l->coarse[i];
            p->value[p->start[i]] = 1.0;
        } else if (p->start[i + 1] > p->start[i]) {
            classical_row(l, strong, i, place, kept, p, work);
        }
}

TalusStatus talus_amg_classical(const TalusAmgLevel *l, const TalusSparse *strong, int count,
                                TalusSparse *p, double *work)
{
    int n = l->a.rows;
    size_t entries = 0;
    int32_t *place;
    for (int i = 0; i < n; i++)
        entries += (size_t)weights_of(l, strong, i);
    TALUS_TRY(talus_sparse_alloc(p, n, count, entries, "interpolation"));
    for (int i = 0; i < n; i++)
        p->start[i + 1] = p->start[i] + weights_of(l, strong, i);
    TALUS_TRY(TALUS_ALLOC(place, 2 * (size_t)n, "interpolation"));
    fill_classical(l, strong, place, place + n, p, work);
    talus_release(place);
    return TALUS_OK;
}

/* ---- rigid clusters ---- */

typedef struct Clusters {
    const TalusAmgLevel *l;
    int count, size;
    int32_t *start, *row; /* rows by cluster */
    int32_t *place;       /* [rows]: of a row in its cluster */
    int32_t *fence,
        *seen; /* [rows]: coarse rows around the present cluster; which cluster saw it */
    double *matrix, *response; /* [size^2]; [size * fence] */
    size_t response_room;
} Clusters;

static void clusters_clear(Clusters *c)
{
    talus_release(c->start);
    talus_release(c->matrix);
    talus_release(c->response);
}

static TalusStatus clusters_create(Clusters *c, const TalusAmgLevel *l, const int32_t *cluster,
                                   int size)
{
    size_t n = (size_t)l->a.rows;
    *c = (Clusters){.l = l, .size = size};
    for (size_t i = 0; i < n; i++)
        c->count = cluster[i] >= c->count ? cluster[i] + 1 : c->count;
    TALUS_TRY(TALUS_ALLOC(c->start, (size_t)c->count + 1 + 4 * n, "clusters"));
    c->row = c->start + c->count + 1;
    c->place = c->row + n;
    c->fence = c->place + n;
    c->seen = c->fence + n;
    for (size_t i = 0; i < n; i++)
        if (cluster[i] >= 0)
            c->start[cluster[i] + 1]++;
    for (int k = 0; k < c->count; k++)
        c->start[k + 1] += c->start[k];
    for (size_t i = 0; i < n; i++) {
        c->seen[i] = -1;
        c->place[i] = -1;
        if (cluster[i] >= 0)
            c->row[c->start[cluster[i]]++] = (int32_t)i;
    }
    memmove(c->start + 1, c->start, (size_t)c->count * sizeof *c->start);
    c->start[0] = 0;
    return TALUS_ALLOC(c->matrix, (size_t)size * (size_t)size, "clusters");
}

/* The coarse rows around cluster k, numbered in `place`. */
static int find_fence(Clusters *c, int k)
{
    const TalusSparse *a = &c->l->a;
    int count = 0;
    for (int32_t r = c->start[k]; r < c->start[k + 1]; r++)
        for (int32_t m = a->start[c->row[r]]; m < a->start[c->row[r] + 1]; m++) {
            int32_t j = a->column[m];
            if (c->l->coarse[j] < 0 || c->seen[j] == k)
                continue;
            c->seen[j] = k;
            c->place[j] = count;
            c->fence[count++] = j;
        }
    return count;
}

/* Rows of P of cluster k, which has `fence` coarse rows around it. */
static TalusStatus fill_cluster(Clusters *c, int k, int fence, TalusSparse *p, double *work)
{
    const TalusSparse *a = &c->l->a;
    const int32_t *row = c->row + c->start[k];
    int n = c->start[k + 1] - c->start[k];
    TALUS_TRY(TALUS_RESERVE(c->response, c->response_room, (size_t)n * (size_t)fence, 0,
                            "responses of a cluster"));
    memset(c->matrix, 0, (size_t)n * (size_t)n * sizeof *c->matrix);
    memset(c->response, 0, (size_t)n * (size_t)fence * sizeof *c->response);
    for (int r = 0; r < n; r++)
        c->place[row[r]] = r;
    for (int r = 0; r < n; r++)
        for (int32_t m = a->start[row[r]]; m < a->start[row[r] + 1]; m++) {
            int32_t j = a->column[m];
            if (c->l->coarse[j] >= 0)
                c->response[c->place[j] * n + r] = -a->value[m];
            else if (c->l->taken[j])
                c->matrix[r * n + c->place[j]] = a->value[m];
        }
    talus_amg_factor(n, c->matrix);
    for (int f = 0; f < fence; f++)
        talus_amg_substitute(n, c->matrix, c->response + f * n);
    *work += (double)n * n * (n / 6.0 + fence);
    for (int r = 0; r < n; r++)
        for (int f = 0; f < fence; f++) {
            p->column[p->start[row[r]] + f] = c->l->coarse[c->fence[f]];
            p->value[p->start[row[r]] + f] = c->response[f * n + r];
        }
    return TALUS_OK;
}

static TalusStatus fill_rigid(Clusters *c, const int32_t *cluster, int count, TalusSparse *p,
                              double *work)
{
    const TalusAmgLevel *l = c->l;
    size_t entries = (size_t)count;
    for (int k = 0; k < c->count; k++)
        entries += (size_t)find_fence(c, k) * (size_t)(c->start[k + 1] - c->start[k]);
    TALUS_TRY(talus_sparse_alloc(p, l->a.rows, count, entries, "interpolation"));
    for (int i = 0; i < l->a.rows; i++)
        c->seen[i] = -1;
    for (int k = 0; k < c->count; k++) {
        int fence = find_fence(c, k);
        for (int32_t r = c->start[k]; r < c->start[k + 1]; r++)
            p->start[c->row[r] + 1] = fence;
    }
    for (int i = 0; i < l->a.rows; i++)
        p->start[i + 1] = p->start[i] + (l->coarse[i] >= 0 ? 1
                                         : cluster[i] < 0  ? 0
                                                           : p->start[i + 1]);
    for (int i = 0; i < l->a.rows; i++) {
        c->seen[i] = -1;
        if (l->coarse[i] < 0)
            continue;
        p->column[p->start[i]] = l->coarse[i];
        p->value[p->start[i]] = 1.0;
    }
    for (int k = 0; k < c->count; k++)
        TALUS_TRY(fill_cluster(c, k, find_fence(c, k), p, work));
    return TALUS_OK;
}

TalusStatus talus_amg_rigid(const TalusAmgLevel *l, const int32_t *cluster, int size, int count,
                            TalusSparse *p, double *work)
{
    Clusters c;
    TalusStatus status = clusters_create(&c, l, cluster, size);
    if (status == TALUS_OK)
        status = fill_rigid(&c, cluster, count, p, work);
    clusters_clear(&c);
    return status;
}
