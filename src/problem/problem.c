/* problem/problem.c - creating, filling and asking a Problem. */
#include "problem/problem.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

TalusStatus talus_problem_create_empty(TalusPool *pool, TalusProblem **out)
{
    TALUS_TRY(TALUS_ALLOC(*out, 1, "problem"));
    (*out)->backend = &talus_backend_cpu;
    (*out)->op.pool = pool;
    (*out)->op.scratch = &(*out)->scratch;
    (*out)->op.rows = 1;
    return TALUS_OK;
}

void talus_problem_destroy(TalusProblem *p)
{
    if (!p)
        return;
    talus_problem_forget_def(p);
    talus_problem_drop_copy(p);
    void *const owned[] = {
        p->op.pair,         p->op.frame,         p->op.arm,          p->op.body,
        p->inertia_store,   p->op.bias,          p->op.mu,           p->compliance_store,
        p->op.diagonal,     p->op.coupling,      p->op.touch_start,  p->op.touch,
        p->gamma,           p->gradient,         p->length,          p->certificate,
        p->offset_store,    p->model_store,      p->estimate_store,  p->base_store,
        p->turning_store,   p->lever_store,      p->scratch.record,  p->scratch.velocity,
        p->scratch.product, p->scratch.unscaled, p->scratch.partial, p->scratch.many};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        talus_release(owned[i]);
    talus_release(p);
}

TalusStatus talus_problem_reserve_vectors(TalusProblem *p)
{
    TalusOperator *op = &p->op;
    size_t blocks = (size_t)op->blocks, n = blocks * (size_t)op->rows;
    TALUS_TRY(TALUS_GROW(p->gamma, n, 0, "impulses"));
    TALUS_TRY(TALUS_GROW(op->mu, blocks, 0, "friction coefficients"));
    return TALUS_GROW(op->diagonal, blocks, 0, "diagonal");
}

/* Rooms that only some problems need; op's pointers are NULL in the others. */
static TalusStatus reserve_optional(TalusProblem *p, const TalusProblemSizes *sizes)
{
    TalusOperator *op = &p->op;
    size_t m = (size_t)op->blocks, bodies = (size_t)op->bodies, general = (size_t)op->general;
    op->compliance = NULL;
    if (sizes->compliance) {
        TALUS_TRY(TALUS_GROW(p->compliance_store, m, 0, "compliances"));
        op->compliance = p->compliance_store;
    }
    op->inertia = NULL;
    if (general) {
        TALUS_TRY(TALUS_GROW(p->inertia_store, bodies, 0, "body inertias"));
        op->inertia = p->inertia_store;
    }
    op->model = NULL;
    if (sizes->models) {
        TALUS_TRY(TALUS_GROW(p->model_store, m, 0, "friction models"));
        op->model = p->model_store;
    }
    op->turning = op->lever = NULL;
    if (sizes->rows == 6) {
        TALUS_TRY(TALUS_GROW(p->turning_store, m, 0, "rolling friction"));
        TALUS_TRY(TALUS_GROW(p->lever_store, general, 0, "contact lengths"));
        op->turning = p->turning_store;
        op->lever = p->lever_store;
    }
    return TALUS_OK;
}

TalusStatus talus_problem_resize(TalusProblem *p, const TalusProblemSizes *sizes)
{
    TalusOperator *op = &p->op;
    int64_t blocks = (int64_t)sizes->sphere_sphere + sizes->sphere_fixed + sizes->general;
    int rows = sizes->rows > 3 ? sizes->rows : 3;
    if (blocks * rows + sizes->general > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "problem: %lld contacts are more than %d",
                          (long long)blocks, INT32_MAX / rows);
    talus_problem_forget_def(p);
    p->lent = false;
    op->bodies = sizes->bodies;
    op->sphere_sphere = sizes->sphere_sphere;
    op->sphere_fixed = sizes->sphere_fixed;
    op->general = sizes->general;
    op->joints = sizes->joints;
    op->rows = sizes->rows;
    op->blocks = (int)blocks;
    size_t m = (size_t)blocks, bodies = (size_t)sizes->bodies, general = (size_t)sizes->general;
    TALUS_TRY(TALUS_GROW(op->pair, m, 0, "contact pairs"));
    TALUS_TRY(TALUS_GROW(op->frame, m, 0, "contact frames"));
    TALUS_TRY(TALUS_GROW(op->arm, general, 0, "contact arms"));
    TALUS_TRY(TALUS_GROW(op->coupling, general, 0, "contact blocks"));
    TALUS_TRY(TALUS_GROW(op->body, bodies, 0, "bodies"));
    TALUS_TRY(TALUS_GROW(op->bias, m, 0, "contact offsets"));
    TALUS_TRY(TALUS_GROW(op->touch_start, bodies + 1, 0, "body contacts"));
    TALUS_TRY(TALUS_GROW(op->touch, 2 * m, 0, "body contacts"));
    TALUS_TRY(TALUS_GROW(p->length, bodies, 0, "body lengths"));
    TALUS_TRY(reserve_optional(p, sizes));
    TALUS_TRY(talus_problem_reserve_vectors(p));
    return talus_backend_cpu.op.scratch(op);
}

TalusOperator *talus_problem_operator(TalusProblem *p)
{
    return &p->op;
}

double *talus_problem_lengths(TalusProblem *p)
{
    return p->length;
}

/* ---- each body's contacts ---- */

static int record_of(const TalusOperator *op, int i, int side)
{
    int general = i - op->sphere_sphere - op->sphere_fixed;
    return general < 0 ? i : i + general + side;
}

/* Counting sort by body; contacts keep their order within a body. Bodies that no impulse moves have none: a
 * drum would have thousands, for nothing. */
static void list_touches(TalusOperator *op)
{
    int32_t *start = op->touch_start;
    memset(start, 0, ((size_t)op->bodies + 1) * sizeof *start);
    for (int i = 0; i < op->blocks; i++)
        for (int side = 0; side < 2; side++)
            if (talus_body_yields(op, op->pair[i][side]))
                start[op->pair[i][side] + 1]++;
    for (int b = 0; b < op->bodies; b++)
        start[b + 1] += start[b];
    for (int i = 0; i < op->blocks; i++)
        for (int side = 0; side < 2; side++)
            if (talus_body_yields(op, op->pair[i][side]))
                op->touch[start[op->pair[i][side]]++] = 2 * record_of(op, i, side) + side;
    for (int b = op->bodies; b > 0; b--) /* the fill moved every start to its end */
        start[b] = start[b - 1];
    start[0] = 0;
}

/* The filler's models against the number of joints it announced. */
static TalusStatus check_joints(const TalusOperator *op)
{
    for (int i = op->blocks - op->joints; i < op->blocks; i++)
        if (op->rows == 1 || !op->model || op->model[i].section != TALUS_SECTION_JOINT ||
            op->mu[i] < INFINITY)
            return talus_fail(TALUS_ERR_ARGUMENT,
                              "problem: the last %d blocks were to be free joints, block %d is not",
                              op->joints, i);
    return TALUS_OK;
}

TalusStatus talus_problem_finish(TalusProblem *p)
{
    p->has_certificate = false; /* of a problem that was here before */
    TALUS_TRY(check_joints(&p->op));
    list_touches(&p->op);
    TALUS_TRY(talus_problem_settle_friction(p));
    return talus_problem_diagonals(p);
}

/* ---- from a def ---- */

static int class_of_contact(const TalusProblemDef *def, const TalusContactDef *c)
{
    if (c->model.section == TALUS_SECTION_JOINT)
        return 2;
    double ra = def->radius ? def->radius[c->a] : 0.0;
    double rb = def->radius && c->b >= 0 ? def->radius[c->b] : 0.0;
    TalusVec3 arm_a = talus_scale(ra, c->normal), arm_b = talus_scale(-rb, c->normal);
    bool compact_a = ra > 0.0 && memcmp(&arm_a, &c->arm_a, sizeof arm_a) == 0;
    if (compact_a && c->b < 0)
        return 1;
    return compact_a && rb > 0.0 && memcmp(&arm_b, &c->arm_b, sizeof arm_b) == 0 ? 0 : 2;
}

/* Rows that a contact needs; without a section it has no friction of any kind. */
static int rows_of(const TalusContactDef *c)
{
    if (c->model.section == TALUS_SECTION_NONE)
        return 1;
    if (c->model.section == TALUS_SECTION_JOINT)
        return 3;
    return c->spinning > 0.0 || c->rolling > 0.0 ? 6 : c->mu > 0.0 ? 3 : 1;
}

static bool is_free_joint(const TalusContactDef *c)
{
    return c->model.section == TALUS_SECTION_JOINT && isinf(c->mu);
}

static bool is_plain(TalusFrictionModel m)
{
    return m.section == TALUS_SECTION_DISC && m.law == TALUS_LAW_CCP;
}

/* Contacts of the compact form must come first, pairs before fixed ones, to stay compact: blocks
 * keep the caller's order. Otherwise all take the general form, which is right for any contact. */
static TalusProblemSizes sizes_of(const TalusProblemDef *def)
{
    TalusProblemSizes sizes = {.bodies = def->body_count, .rows = 1};
    int count[3] = {0, 0, 0}, last = 0;
    bool ordered = true;
    for (int i = 0; i < def->contact_count; i++) {
        const TalusContactDef *c = &def->contacts[i];
        int class = class_of_contact(def, c), rows = rows_of(c);
        ordered = ordered && class >= last;
        last = class;
        count[class]++;
        sizes.rows = rows > sizes.rows ? rows : sizes.rows;
        sizes.compliance = sizes.compliance || c->compliance > 0.0;
        sizes.models = sizes.models || !is_plain(c->model);
        sizes.joints += is_free_joint(c);
    }
    bool compact = ordered && sizes.rows < 6;
    sizes.sphere_sphere = compact ? count[0] : 0;
    sizes.sphere_fixed = compact ? count[1] : 0;
    sizes.general = compact ? count[2] : def->contact_count;
    return sizes;
}

static TalusStatus check_turning(const TalusContactDef *c, int i)
{
    if (!(c->spinning >= 0.0) || !(c->rolling >= 0.0) || !isfinite(c->spinning) ||
        !isfinite(c->rolling))
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "contact %d: spinning %g and rolling %g must be finite and not negative",
                          i, c->spinning, c->rolling);
    bool turns = c->spinning > 0.0 || c->rolling > 0.0;
    if (turns && (!(c->length > 0.0) || !isfinite(c->length)))
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "contact %d: spinning %g and rolling %g need a length above 0, it is %g",
                          i, c->spinning, c->rolling, c->length);
    return TALUS_OK;
}

/* Free joints come last, so that those who eliminate them find them; blocks keep the caller's order. */
static TalusStatus check_joint(const TalusProblemDef *def, int i)
{
    const TalusContactDef *c = &def->contacts[i];
    if (c->model.section == TALUS_SECTION_JOINT && (c->spinning > 0.0 || c->rolling > 0.0))
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "contact %d: spinning %g and rolling %g of a joint, expected 0", i,
                          c->spinning, c->rolling);
    if (is_free_joint(c) && i + 1 < def->contact_count && !is_free_joint(&def->contacts[i + 1]))
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "contact %d: a free joint before contact %d, which is none; free joints "
                          "come last",
                          i, i + 1);
    return TALUS_OK;
}

static TalusStatus check_contact(const TalusProblemDef *def, int i)
{
    const TalusContactDef *c = &def->contacts[i];
    double norm = talus_norm(c->normal);
    if (c->a < 0 || c->a >= def->body_count || c->b < -1 || c->b >= def->body_count || c->a == c->b)
        return talus_fail(TALUS_ERR_ARGUMENT, "contact %d: bodies %d and %d of %d", i, c->a, c->b,
                          def->body_count);
    if (!(norm > 0.999999 && norm < 1.000001))
        return talus_fail(TALUS_ERR_ARGUMENT, "contact %d: normal has length %g, expected 1", i,
                          norm);
    if (!(c->mu >= 0.0) || !(c->compliance >= 0.0) || (!isfinite(c->mu) && !is_free_joint(c)) ||
        !isfinite(c->compliance) || !isfinite(c->bias))
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "contact %d: mu %g and compliance %g must be finite and not negative, "
                          "bias %g finite",
                          i, c->mu, c->compliance, c->bias);
    if (def->inv_mass[c->a] <= 0.0 && (c->b < 0 || def->inv_mass[c->b] <= 0.0))
        return talus_fail(TALUS_ERR_ARGUMENT, "contact %d: neither body can move", i);
    TALUS_TRY(check_turning(c, i));
    TALUS_TRY(talus_problem_check_model(c->model, "contact", i));
    return check_joint(def, i);
}

static void fill_body(TalusProblem *p, const TalusProblemDef *def, int i)
{
    TalusSym3 inv = def->inv_inertia[i];
    double l = def->radius && def->radius[i] > 0.0 ? def->radius[i] : 1.0;
    double *body = p->op.body[i];
    for (int k = 0; k < 3; k++) {
        body[k] = def->free_velocity[6 * i + k];
        body[4 + k] = l * def->free_velocity[6 * i + 3 + k];
    }
    body[3] = def->inv_mass[i];
    body[7] = l * l * ((inv.xx + inv.yy + inv.zz) / 3.0);
    p->length[i] = l;
    if (p->op.inertia) {
        TalusSym3 scaled = talus_sym3_scale(l * l, inv);
        memcpy(p->op.inertia[i], &scaled, sizeof scaled);
    }
}

/* The length of a contact that was given none, for rows that its set keeps at zero: it only has to keep
 * their scale near that of the others. */
static double length_of(const TalusContactDef *c)
{
    double a = talus_norm(c->arm_a), b = c->b >= 0 ? talus_norm(c->arm_b) : 0.0;
    double length = a > 0.0 && b > 0.0 ? a * b / (a + b) : a + b;
    return c->length > 0.0 ? c->length : length > 0.0 ? length : 1.0;
}

static void fill_turning(TalusProblem *p, const TalusContactDef *c, int i)
{
    TalusOperator *op = &p->op;
    double length = length_of(c);
    op->turning[i][0] = c->spinning;
    op->turning[i][1] = c->rolling;
    op->lever[i][0] = length / p->length[c->a];
    op->lever[i][1] = c->b >= 0 ? length / p->length[c->b] : 0.0;
}

static void fill_contact(TalusProblem *p, const TalusContactDef *c, int i)
{
    TalusOperator *op = &p->op;
    int general = i - op->sphere_sphere - op->sphere_fixed;
    op->pair[i][0] = c->a;
    op->pair[i][1] = c->b;
    talus_frame_set(op->frame[i], c->normal.x, c->normal.y, c->normal.z);
    op->bias[i] = c->bias;
    op->mu[i] = c->mu;
    if (op->compliance)
        op->compliance[i] = c->compliance;
    if (op->model)
        op->model[i] = talus_block_model(c->model);
    if (op->turning)
        fill_turning(p, c, i);
    if (general >= 0) {
        double lb = c->b >= 0 ? p->length[c->b] : 1.0;
        TalusVec3 arms[2] = {talus_scale(1.0 / p->length[c->a], c->arm_a),
                             talus_scale(1.0 / lb, c->arm_b)};
        memcpy(op->arm[general], arms, sizeof arms);
    }
}

static TalusStatus fill_from_contacts(TalusProblem *p, const TalusProblemDef *def)
{
    for (int i = 0; i < def->contact_count; i++)
        TALUS_TRY(check_contact(def, i));
    TalusProblemSizes sizes = sizes_of(def);
    TALUS_TRY(talus_problem_resize(p, &sizes));
    for (int i = 0; i < def->body_count; i++)
        fill_body(p, def, i);
    for (int i = 0; i < def->contact_count; i++)
        fill_contact(p, &def->contacts[i], i);
    TALUS_TRY(talus_problem_finish(p));
    return talus_problem_copy_def(p, def);
}

TalusStatus talus_problem_create(const TalusProblemDef *def, TalusPool *pool, TalusProblem **out)
{
    TalusProblem *p;
    *out = NULL;
    if (!def->contacts == !def->values)
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "problem: give either contacts or an explicit matrix, not %s",
                          def->contacts ? "both" : "neither");
    TALUS_TRY(talus_problem_create_empty(pool, &p));
    TalusStatus status =
        def->contacts ? fill_from_contacts(p, def) : talus_problem_fill_matrix(p, def);
    if (status != TALUS_OK) {
        talus_problem_destroy(p);
        return status;
    }
    memset(p->gamma, 0, (size_t)talus_problem_size(p) * sizeof *p->gamma);
    *out = p;
    return TALUS_OK;
}

/* ---- questions ---- */

int talus_problem_blocks(const TalusProblem *p)
{
    return talus_problem_counts(p)->blocks;
}

int talus_problem_rows(const TalusProblem *p)
{
    return talus_problem_counts(p)->rows;
}

int talus_problem_size(const TalusProblem *p)
{
    return talus_problem_counts(p)->rows * talus_problem_counts(p)->blocks;
}

int talus_problem_bodies(const TalusProblem *p)
{
    return talus_problem_counts(p)->bodies;
}

double talus_problem_mu(const TalusProblem *p, int block)
{
    return p->op.rows > 1 ? p->op.mu[block] : 0.0;
}

double *talus_problem_gamma(TalusProblem *p)
{
    return p->gamma;
}

TalusStatus talus_problem_reserve_certificate(TalusProblem *p, double **out)
{
    size_t n = (size_t)talus_problem_size(p);
    TALUS_TRY(TALUS_GROW(p->certificate, n, 0, "certificate"));
    p->has_certificate = true;
    *out = p->certificate;
    return TALUS_OK;
}

TalusStatus talus_problem_set_certificate(TalusProblem *p, const double *certificate)
{
    double *room;
    p->has_certificate = false;
    if (!certificate)
        return TALUS_OK;
    TALUS_TRY(talus_problem_reserve_certificate(p, &room));
    memcpy(room, certificate, (size_t)talus_problem_size(p) * sizeof *room);
    return TALUS_OK;
}

const double *talus_problem_certificate(const TalusProblem *p)
{
    return p->has_certificate ? p->certificate : NULL;
}

double talus_problem_diagonal(const TalusProblem *p, int block)
{
    return talus_block_scale(&p->op, block);
}

void talus_problem_apply(TalusProblem *p, const double *x, double *out)
{
    talus_backend_cpu.op.product(&p->op, x, false, false, out);
}

void talus_problem_velocity(TalusProblem *p, const double *gamma, double *u)
{
    talus_backend_cpu.op.product(&p->op, gamma, false, true, u);
}

void talus_problem_gradient(TalusProblem *p, const double *gamma, double *gradient)
{
    talus_backend_cpu.op.product(&p->op, gamma, true, true, gradient);
}

void talus_problem_offset(TalusProblem *p, double *q)
{
    talus_backend_cpu.op.product(&p->op, NULL, false, true, q);
}

const double (*talus_problem_velocities(TalusProblem *p))[8]
{
    talus_backend_cpu.op.bodies(&p->op, p->gamma, true, p->scratch.velocity);
    return (const double(*)[8])p->scratch.velocity;
}

TalusStatus talus_problem_body_velocity(TalusProblem *p, const double *gamma, double *v)
{
    if (!p->op.pair)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "problem: an explicit matrix has no bodies, so no body velocities");
    talus_backend_cpu.op.bodies(&p->op, gamma, true, p->scratch.velocity);
    for (int i = 0; i < p->op.bodies; i++)
        for (int k = 0; k < 3; k++) {
            v[6 * i + k] = p->scratch.velocity[i][k];
            v[6 * i + 3 + k] = p->scratch.velocity[i][4 + k] / p->length[i];
        }
    return TALUS_OK;
}

/* Zero impulses of which the residual is 0 solve the problem whatever the last digits of velocities. */
static TalusResidual hidden_by_rounding(const TalusBackend *backend, const TalusOperator *op,
                                        const double *gamma, const TalusResidual *residual)
{
    double terms2, max;
    if (op->blocks == 0 || (residual->max == 0.0 && backend->vector.dot(op, gamma, gamma) == 0.0))
        return (TalusResidual){0};
    backend->op.terms(op, gamma, &terms2, &max);
    return (TalusResidual){TALUS_ROUNDING * sqrt(terms2 / op->blocks), 2.0 * TALUS_ROUNDING * max};
}

void talus_residual_measure(const TalusBackend *backend, const TalusOperator *op, bool beyond,
                            const double *gamma, TalusResidual *out, TalusResidual *rounding)
{
    TalusResidualSums sums;
    double blocks = op->blocks > 0 ? op->blocks : 1;
    if (beyond) {
        TalusLawSums law;
        backend->law.measure(op, gamma, &law);
        sums = (TalusResidualSums){law.residual2, law.residual_max};
    } else {
        backend->op.residual(op, gamma, &sums);
    }
    *out = (TalusResidual){sqrt(sums.residual2 / blocks), sums.residual_max};
    if (rounding)
        *rounding = hidden_by_rounding(backend, op, gamma, out);
}

void talus_problem_residuals(TalusProblem *p, const double *gamma, TalusResidual *out,
                             TalusResidual *rounding)
{
    bool beyond = p->op.kinds & ~TALUS_KINDS_OF(TALUS_LAW_CCP);
    talus_residual_measure(&talus_backend_cpu, &p->op, beyond, gamma, out, rounding);
}

void talus_problem_residual(TalusProblem *p, const double *gamma, TalusResidual *out)
{
    talus_problem_residuals(p, gamma, out, NULL);
}

/* 1/2 gamma'(g + q) with g = (N + E) gamma + q. */
TalusStatus talus_problem_objective(TalusProblem *p, const double *gamma, double *objective)
{
    size_t n = (size_t)talus_problem_size(p);
    TALUS_TRY(TALUS_GROW(p->gradient, n, 0, "gradient"));
    talus_problem_offset(p, p->gradient);
    double linear = talus_backend_cpu.vector.dot(&p->op, gamma, p->gradient);
    talus_problem_gradient(p, gamma, p->gradient);
    *objective = 0.5 * (linear + talus_backend_cpu.vector.dot(&p->op, gamma, p->gradient));
    return TALUS_OK;
}
