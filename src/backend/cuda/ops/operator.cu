/* backend/cuda/ops/operator.cu - operations on the whole problem: the operator's copy on the device, scratch,
 * velocities of bodies, product, metric, sizes of impulses.
 *
 * Per sphere-sphere contact with friction, bytes of a product in double precision:
 *     bodies    4 incidence + 32 frame + 24 impulse, for each of 2 sides; per body a record of 64 read and written
 *     contacts  8 pair + 32 frame + 128 body records (mostly cached) read, 24 written */
#include "backend/cuda/ops/machines.h"
#include "backend/cuda/ops/part.h"

/* ---- the copy of a host's operator ---- */

/* Device memory of the arrays of an operator that is copied from the host; names as in TalusOperator, id:
 * numbers.id. */
struct CuMirror {
    CuArray<int32_t> pair, incidence_start, incidence, row_start, column;
    CuArray<double> frame, arm, body, inverse_inertia, bias, mu, compliance, diagonal, coupling;
    CuArray<double> values, offset, estimate, moment_mu, lever, unshifted;
    CuArray<uint64_t> id;
    CuArray<TalusBlockModel> model;
};

TalusStatus cu_get_scratch(const TalusOperator *op, CuScratch **out)
{
    if (!op->device) /* made on first use, though the operator is const */
        TALUS_TRY(talus_alloc(&((TalusOperator *)op)->device, 1, sizeof(CuScratch), "operator"));
    *out = cu_scratch_of(op);
    return TALUS_OK;
}

/* Copies `count` elements from the host to `to`, which grows if needed, and writes their device address to *place;
 * writes NULL and copies nothing if `from` is NULL. */
template <class T>
static TalusStatus upload_array(const TalusOperator *op, CuArray<T> *to, const void *from,
                                int64_t count, const char *what, void **place)
{
    *place = nullptr;
    if (!from)
        return TALUS_OK;
    TALUS_TRY(to->reserve(count, what));
    cu_put(cu_context_of(op), to->at, from, (size_t)count * sizeof(T));
    *place = to->at;
    return TALUS_OK;
}

/* Address of a pointer field as void **, whatever the field points to. */
#define PLACE(field) ((void **)&(field))

/* Uploads the arrays of a matrix-free operator and sets the pointers of op to them. */
static TalusStatus upload_contacts(const TalusOperator *host, CuMirror *m, TalusOperator *op)
{
    int64_t blocks = host->blocks, bodies = host->bodies, general = host->general;
    const char *what = "contacts of the problem";
    TALUS_TRY(upload_array(op, &m->pair, host->pair, 2 * blocks, what, PLACE(op->pair)));
    TALUS_TRY(upload_array(op, &m->frame, host->frame, 4 * blocks, what, PLACE(op->frame)));
    TALUS_TRY(upload_array(op, &m->bias, host->bias, blocks, what, PLACE(op->bias)));
    TALUS_TRY(upload_array(op, &m->arm, host->arm, 6 * general, what, PLACE(op->arm)));
    TALUS_TRY(upload_array(op, &m->lever, host->lever, 2 * general, what, PLACE(op->lever)));
    what = "bodies of the problem";
    TALUS_TRY(upload_array(op, &m->body, host->body, 8 * bodies, what, PLACE(op->body)));
    TALUS_TRY(upload_array(op, &m->inverse_inertia, host->inverse_inertia, 6 * bodies, what,
                           PLACE(op->inverse_inertia)));
    TALUS_TRY(upload_array(op, &m->id, host->numbers.id, bodies, what, PLACE(op->numbers.id)));
    TALUS_TRY(upload_array(op, &m->incidence_start, host->incidence_start, bodies + 1, what,
                           PLACE(op->incidence_start)));
    return upload_array(op, &m->incidence, host->incidence, host->incidence_start[bodies], what,
                        PLACE(op->incidence));
}

/* Uploads the arrays of an explicit operator and sets the pointers of op to them. */
static TalusStatus upload_matrix(const TalusOperator *host, CuMirror *m, TalusOperator *op)
{
    int64_t rows = (int64_t)host->rows * host->blocks, entries = host->row_start[rows];
    const char *what = "matrix of the problem";
    TALUS_TRY(
        upload_array(op, &m->row_start, host->row_start, rows + 1, what, PLACE(op->row_start)));
    TALUS_TRY(upload_array(op, &m->column, host->column, entries, what, PLACE(op->column)));
    TALUS_TRY(upload_array(op, &m->values, host->values, entries, what, PLACE(op->values)));
    return upload_array(op, &m->offset, host->offset, rows, what, PLACE(op->offset));
}

/* Uploads the arrays of friction and sets the pointers of op to them. */
static TalusStatus upload_sets(const TalusOperator *host, CuMirror *m, TalusOperator *op)
{
    int64_t blocks = host->blocks;
    const char *what = "friction of the problem";
    TALUS_TRY(upload_array(op, &m->mu, host->mu, blocks, what, PLACE(op->mu)));
    TALUS_TRY(upload_array(op, &m->model, host->model, blocks, what, PLACE(op->model)));
    TALUS_TRY(upload_array(op, &m->estimate, host->estimate, blocks, what, PLACE(op->estimate)));
    TALUS_TRY(
        upload_array(op, &m->moment_mu, host->moment_mu, 2 * blocks, what, PLACE(op->moment_mu)));
    return upload_array(op, &m->unshifted, host->unshifted, blocks, what, PLACE(op->unshifted));
}

TalusStatus cu_op_mirror(const TalusOperator *host, TalusOperator *op)
{
    CuScratch *s;
    TalusContext *context = op->context;
    TALUS_TRY(cu_get_scratch(op, &s));
    if (!s->mirror)
        TALUS_TRY(talus_alloc((void **)&s->mirror, 1, sizeof *s->mirror, "operator"));
    CuMirror *m = s->mirror;
    *op = *host; /* uploads then replace the pointers to arrays */
    op->device = s;
    op->context = context;
    op->scratch = nullptr;
    op->elimination = nullptr;
    TALUS_TRY(host->values ? upload_matrix(host, m, op) : upload_contacts(host, m, op));
    int64_t blocks = host->blocks, coupled = host->values ? host->blocks : host->general;
    const char *what = "blocks of the problem";
    TALUS_TRY(upload_sets(host, m, op));
    TALUS_TRY(
        upload_array(op, &m->compliance, host->compliance, blocks, what, PLACE(op->compliance)));
    TALUS_TRY(
        upload_array(op, &m->diagonal, host->diagonal, 2 * blocks, what, PLACE(op->diagonal)));
    TALUS_TRY(upload_array(op, &m->coupling, host->coupling, coupled, what, PLACE(op->coupling)));
    return cu_check(cu_context_of(op));
}

/* Copies `count` elements of the operator's array `from` to the host's `to`, if both are there. */
template <class T> static void fetch_array(CuContext *cu, T *to, const T *from, int64_t count)
{
    if (to && from)
        cu_get(cu, to, from, (size_t)count * sizeof *to);
}

static __global__ void find_numbers(int bodies, TalusBodyNumbers numbers, uint64_t *number,
                                    uint32_t *slot)
{
    int64_t b = item_index();
    if (b >= bodies)
        return;
    number[b] = talus_body_number(&numbers, (int32_t)b);
    slot[b] = numbers.slot ? numbers.slot[b] : (uint32_t)b;
}

/* Downloads the numbers and slots of the bodies. */
static TalusStatus fetch_numbers(const TalusOperator *op, uint64_t *number, uint32_t *slot)
{
    CuContext *cu = cu_context_of(op);
    CuArray<uint64_t> numbers;
    CuArray<uint32_t> slots;
    TalusStatus status = numbers.reserve(op->bodies, "body numbers");
    TALUS_THEN(status, slots.reserve(op->bodies, "body numbers"));
    if (status == TALUS_OK) {
        launch(cu, find_numbers, blocks_for(op->bodies), THREADS, op->bodies, op->numbers,
               numbers.at, slots.at);
        cu_get(cu, number, numbers, (size_t)op->bodies * sizeof *number);
        cu_get(cu, slot, slots, (size_t)op->bodies * sizeof *slot);
    }
    numbers.clear();
    slots.clear();
    return status;
}

TalusStatus cu_op_fetch(const TalusOperator *op, TalusOperator *host, uint64_t *number,
                        uint32_t *slot)
{
    CuContext *cu = cu_context_of(op);
    const int64_t blocks = op->blocks;
    TALUS_TRY(fetch_numbers(op, number, slot));
    fetch_array(cu, host->pair, op->pair, blocks);
    fetch_array(cu, host->frame, op->frame, blocks);
    fetch_array(cu, host->bias, op->unshifted ? op->unshifted : op->bias, blocks);
    fetch_array(cu, host->arm, op->arm, op->general);
    fetch_array(cu, host->lever, op->lever, op->general);
    fetch_array(cu, host->body, op->body, op->bodies);
    fetch_array(cu, host->inverse_inertia, op->inverse_inertia, op->bodies);
    fetch_array(cu, host->mu, op->mu, blocks);
    fetch_array(cu, host->compliance, op->compliance, blocks);
    fetch_array(cu, host->model, op->model, blocks);
    fetch_array(cu, host->estimate, op->estimate, blocks);
    fetch_array(cu, host->moment_mu, op->moment_mu, blocks);
    fetch_array(cu, host->diagonal, op->diagonal, blocks);
    return cu_check(cu);
}

static void clear_mirror(CuMirror *m)
{
    cu_clear(m->pair, m->incidence_start, m->incidence, m->id, m->row_start, m->column, m->model);
    cu_clear(m->frame, m->arm, m->body, m->inverse_inertia, m->bias, m->mu, m->compliance,
             m->diagonal, m->coupling, m->values, m->offset, m->estimate, m->moment_mu, m->lever,
             m->unshifted);
    talus_release(m);
}

void cu_scratch_clear(TalusOperator *op)
{
    CuScratch *s = cu_scratch_of(op);
    if (!s)
        return;
    cu_clear(s->velocity, s->wrench, s->product, s->unscaled, s->block_summed);
    if (s->part.at)
        cu_context_of(op)->part = nullptr;
    for (CuOwned owned : {s->iterate, s->machines, s->part})
        if (owned.at)
            owned.clear(owned.at);
    if (s->mirror)
        clear_mirror(s->mirror);
    talus_release(s);
    op->device = nullptr;
}

void cu_op_mirror_clear(TalusOperator *op)
{
    cu_scratch_clear(op);
    *op = TalusOperator{};
}

/* ---- scratch ---- */

/* Lists in `out` the bodies with more than BLOCK_SUM_ABOVE contacts and counts them in *found, which is 0 before. */
static __global__ void find_block_summed(int bodies, const int32_t *incidence_start, int32_t *out,
                                         int32_t *found)
{
    int64_t b = item_index();
    if (b < bodies && incidence_start[b + 1] - incidence_start[b] > BLOCK_SUM_ABOVE)
        out[atomicAdd(found, 1)] = (int32_t)b;
}

/* Lists the block-summed bodies in s->block_summed, in any order; no result depends on the order. Leaves their number,
 * an int32_t, in the first bytes of the last of the context's totals. */
static TalusStatus list_block_summed(const TalusOperator *op, CuScratch *s)
{
    int32_t *found = (int32_t *)(cu_context_of(op)->totals + CU_TOTALS - 1);
    TALUS_TRY(s->block_summed.reserve(2 * (int64_t)op->blocks / BLOCK_SUM_ABOVE,
                                      "bodies with many contacts"));
    cu_zero(cu_context_of(op), found, sizeof(double));
    launch(cu_context_of(op), find_block_summed, blocks_for(op->bodies), THREADS, op->bodies,
           op->incidence_start, s->block_summed.at, found);
    return TALUS_OK;
}

TalusStatus cu_scratch_begin(const TalusOperator *op)
{
    CuScratch *s;
    TALUS_TRY(cu_get_scratch(op, &s));
    s->serial++;
    s->block_summed_count = 0;
    TALUS_TRY(cu_part_begin(op));
    if (op->pair) {
        TALUS_TRY(s->velocity.reserve(8 * (int64_t)op->bodies, "body velocities"));
        return list_block_summed(op, s);
    }
    int64_t n = (int64_t)op->rows * op->blocks;
    TALUS_TRY(s->product.reserve(n, "operator product"));
    return s->unscaled.reserve(n, "impulses");
}

void cu_scratch_end(const TalusOperator *op, const double *totals)
{
    CuScratch *s = cu_scratch_of(op);
    if (op->pair)
        memcpy(&s->block_summed_count, totals + CU_TOTALS - 1, sizeof s->block_summed_count);
}

TalusStatus cu_op_reserve_scratch(const TalusOperator *op)
{
    double totals[CU_TOTALS];
    TALUS_TRY(cu_scratch_begin(op));
    cu_totals_get(cu_context_of(op), CU_TOTALS, totals);
    cu_scratch_end(op, totals);
    return cu_check(cu_context_of(op));
}

CuView<double> cu_view(const TalusOperator *op)
{
    const CuScratch *s = cu_scratch_of(op);
    CuView<double> c = {};
    c.blocks = op->blocks;
    c.bodies = op->bodies;
    c.sphere_sphere = op->sphere_sphere;
    c.spheres = op->sphere_sphere + op->sphere_fixed;
    c.pair = (const int2 *)op->pair;
    c.frame = op->frame;
    c.arm = op->arm;
    c.lever = op->lever;
    c.body = op->body;
    c.inverse_inertia = op->inverse_inertia;
    c.bias = op->bias;
    c.compliance = op->compliance;
    c.mu = op->mu;
    c.diagonal = op->diagonal;
    c.incidence_start = op->incidence_start;
    c.incidence = op->incidence;
    c.block_summed = s->block_summed.at;
    c.block_summed_count = s->block_summed_count;
    return c;
}

/* ---- motion ---- */

/* Kernel of gather_body_velocities: first part of a product, body by body. */
template <int ROWS>
static __global__ void gather_impulses(CuView<double> c, CuImpulses<double> g, bool free_motion,
                                       double (*velocity)[8])
{
    gather_body_velocities<ROWS>(c, g, free_motion, velocity);
}

unsigned cu_gather_block_count(const TalusOperator *op)
{
    return blocks_for(op->bodies) + (unsigned)cu_scratch_of(op)->block_summed_count;
}

/* velocity = v_f, if `free_motion`, plus M^-1 D gamma, before eliminated joints are satisfied. */
static void launch_gather(const TalusOperator *op, CuImpulses<double> g, bool free_motion,
                          double (*velocity)[8])
{
    unsigned blocks = cu_gather_block_count(op);
    /* threads wait for each other only where a block sums one body */
    if (cu_scratch_of(op)->block_summed_count)
        LAUNCH_ROWS(launch_block, op, gather_impulses, blocks, THREADS, cu_view(op), g, free_motion,
                    velocity);
    else
        LAUNCH_ROWS(launch, op, gather_impulses, blocks, THREADS, cu_view(op), g, free_motion,
                    velocity);
}

void cu_gather_velocities(const TalusOperator *op, const double *gamma, bool free_motion,
                          double (*velocity)[8])
{
    launch_gather(op, CuImpulses<double>{gamma, nullptr}, free_motion, velocity);
    cu_part_exchange(op, velocity, sizeof *velocity);
}

/* velocity = v_f, if `free_motion`, plus M^-1 D gamma, made to satisfy eliminated joints. */
static void compute_velocities(const TalusOperator *op, CuImpulses<double> g, bool free_motion,
                               double (*velocity)[8])
{
    launch_gather(op, g, free_motion, velocity);
    cu_part_exchange(op, velocity, sizeof *velocity);
    cu_machines_apply(op, free_motion, velocity);
}

/* Returns v_f: op->body itself or, if joints are eliminated, a copy in `velocity` that satisfies them. */
static const double (*free_velocities(const TalusOperator *op, double (*velocity)[8]))[8]
{
    if (!op->elimination)
        return op->body;
    cu_copy(cu_context_of(op), velocity, op->body, (size_t)op->bodies * sizeof *velocity);
    cu_machines_apply(op, true, velocity);
    return velocity;
}

/* out = gamma = S x. */
template <int ROWS>
static __global__ void unscale_impulses(int blocks, CuImpulses<double> g, double *out)
{
    int64_t i = item_index();
    if (i >= blocks)
        return;
    double local[LOCAL<ROWS>];
    load_impulse<ROWS>(g, (int)i, local);
    for (int k = 0; k < ROWS; k++)
        out[i * ROWS + k] = local[k];
}

CuMotion cu_compute_motion(const TalusOperator *op, const double *x, const TalusMetricBlock *metric,
                           bool offset)
{
    CuScratch *s = cu_scratch_of(op);
    CuImpulses<double> g = {x, metric};
    CuMotion motion = {nullptr, nullptr, offset};
    if (op->pair) {
        double(*velocity)[8] = (double(*)[8])s->velocity.at;
        if (x)
            compute_velocities(op, g, offset, velocity);
        motion.velocity = x ? velocity : free_velocities(op, velocity);
        return motion;
    }
    motion.product = s->product.at;
    if (x && metric) {
        LAUNCH_ROWS(launch, op, unscale_impulses, blocks_for(op->blocks), THREADS, op->blocks, g,
                    s->unscaled.at);
        x = s->unscaled.at;
    }
    if (x)
        cu_matrix_product(op, x, offset, s->product.at);
    else
        motion.product = op->offset;
    return motion;
}

void cu_op_body_velocities(const TalusOperator *op, const double *gamma, bool free_motion,
                           double (*velocity)[8])
{
    compute_velocities(op, CuImpulses<double>{gamma, nullptr}, free_motion, velocity);
}

/* ---- product ---- */

/* Second part of a product, block by block: out = S (N gamma + E gamma + q) with gamma = S x. Without q if `motion` was
 * computed without offset, without E gamma if `compliant` is false. */
template <int ROWS>
static __global__ void product_rows(CuView<double> c, CuMotion motion, CuImpulses<double> g,
                                    bool compliant, double *out)
{
    int64_t i = item_index();
    if (i >= c.blocks)
        return;
    double u[ROWS], local[LOCAL<ROWS>];
    block_velocity(c, motion, (int)i, u);
    if (compliant && c.compliance && g.x) {
        load_impulse<ROWS>(g, (int)i, local);
        u[0] += c.compliance[i] * local[0];
    }
    for (int k = 0; k < ROWS; k++)
        out[i * ROWS + k] = g.metric ? g.metric[i][k > 0] * u[k] : u[k];
}

/* out = S (N gamma + q), plus S E gamma if `compliant`, with gamma = S x; `offset` false omits q. */
static void launch_product(const TalusOperator *op, CuImpulses<double> g, bool compliant,
                           bool offset, double *out)
{
    CuMotion motion = cu_compute_motion(op, g.x, g.metric, offset);
    LAUNCH_ROWS(launch, op, product_rows, blocks_for(op->blocks), THREADS, cu_view(op), motion, g,
                compliant, out);
}

void cu_op_product(const TalusOperator *op, const double *gamma, bool compliant, bool offset,
                   double *out)
{
    launch_product(op, CuImpulses<double>{gamma, nullptr}, compliant, offset, out);
}

void cu_op_gradient(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                    bool offset, double *out)
{
    launch_product(op, CuImpulses<double>{x, metric}, true, offset, out);
}

/* ---- metric ---- */

/* Writes the metric of each block: s_n, s_t, nu = mu s_n / s_t (0 with one row) and 1 / (1 + nu^2). s_n and s_t are 1 /
 * root of the diagonal entries or, with `trace`, of the mean entry. */
template <int ROWS>
static __global__ void form_metric(CuView<double> c, bool trace, TalusMetricBlock *out)
{
    int64_t i = item_index();
    if (i >= c.blocks)
        return;
    double d = block_mean_diagonal<ROWS>(c, (int)i), m[4];
    m[0] = 1.0 / sqrt(trace ? d : c.diagonal[i][0]);
    m[1] = 1.0 / sqrt(trace ? d : c.diagonal[i][1]);
    m[2] = ROWS >= 3 ? c.mu[i] * (m[0] / m[1]) : 0.0;
    m[3] = 1.0 / (1.0 + m[2] * m[2]);
    store_packs<4>(m, out[i]);
}

void cu_op_fill_metric(const TalusOperator *op, TalusMetric kind, TalusMetricBlock *out)
{
    LAUNCH_ROWS(launch, op, form_metric, blocks_for(op->blocks), THREADS, cu_view(op),
                kind == TALUS_METRIC_TRACE, out);
}

/* Sums of TalusSizes: d^2 |gamma|^2; d^2 |gamma - P gamma|^2, P onto the unbounded directions; |gamma|^2 / d. */
template <int ROWS, bool VARIED>
static __global__ void sum_sizes(CuTallies tallies, double *totals, CuView<double> c, CuSets sets,
                                 CuImpulses<double> g)
{
    sum_items<3, 0>(tallies, totals, 0, c.blocks, 0.0, [&](int64_t i, double(&sums)[3]) {
        double gamma[LOCAL<ROWS>], inside[ROWS], d = block_mean_diagonal<ROWS>(c, (int)i);
        load_impulse<ROWS>(g, (int)i, gamma);
        for (int k = 0; k < ROWS; k++)
            inside[k] = gamma[k];
        project_unbounded_directions(impulse_set<ROWS, VARIED>(sets, i), inside);
        for (int k = 0; k < ROWS; k++) {
            double value = d * gamma[k], off = d * (gamma[k] - inside[k]);
            sums[0] += value * value;
            sums[1] += off * off;
            sums[2] += gamma[k] * gamma[k] / d;
        }
    });
}

void cu_op_measure_sizes(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                         TalusSizes *out)
{
    double totals[3] = {0.0, 0.0, 0.0};
    LAUNCH_SETS(launch_sums, op, sum_sizes, op->blocks, cu_context_of(op)->totals, cu_view(op),
                cu_sets(op, nullptr), CuImpulses<double>{x, metric});
    cu_totals_get(cu_context_of(op), 3, totals);
    *out = TalusSizes{totals[0], totals[1], totals[2]};
}
