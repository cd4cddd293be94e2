/* solvers/face/gp.c - projection steps, projected search, and the switch between them and the faces (gp.h). */
#include "solvers/face/gp.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>

enum {
    REFRESH = 50, /* products after which the gradient is computed from x */
    HALVINGS = 30 /* maximum halvings of a step; then a step up to the first bound is taken */
};

static const double LONGEST_STEP = 1e3; /* relative to the size of the data */
static const double FLAT = 1e-9;        /* curvature treated as zero, relative to |A| */
static const double ETA2_FACTOR = 0.1;  /* factor on eta2 while the face stays the same */

/* Values of the parameter line. */
enum { LINE_PROJECTED, LINE_WHOLE };

/* Values of the parameter count. */
enum { COUNT_ALL, COUNT_KRYLOV };

const char *const talus_gp_lines[] = {"projected", "whole", NULL};
const char *const talus_gp_metrics[] = {"none", "trace", NULL};
const char *const talus_gp_counts[] = {"all", "krylov", NULL};

/* ---- products and curvature ---- */

void talus_gp_set_multiple(TalusGp *gp, double a, const double *x, double *out)
{
    gp->solve->backend->vector.combine(gp->solve->op, 1, &x, &a, out);
}

void talus_gp_product(TalusGp *gp, const double *p, double *out)
{
    gp->solve->backend->op.gradient(gp->solve->op, gp->metric, p, false, out);
    gp->solve->info->products++;
    gp->since_gradient++;
}

static double dot_product(const TalusGp *gp, const double *x, const double *y)
{
    return gp->solve->backend->vector.dot(gp->solve->op, x, y);
}

double talus_gp_curvature(TalusGp *gp, double pAp, double pp, bool *flat)
{
    if (pAp > gp->largest * pp)
        gp->largest = pAp / pp;
    double least = FLAT * gp->largest * pp;
    *flat = !(pAp > least);
    return *flat ? least : pAp;
}

/* Returns the factor on a step p, p'p = pp, at which its length is LONGEST_STEP times the size of the data (gp.h). */
static double longest_factor(const TalusGp *gp, double pp)
{
    return LONGEST_STEP * (gp->x_size + gp->g_size / gp->largest) / sqrt(pp);
}

/* ---- the iterate ---- */

/* Computes g from x, with one product. */
static void form_gradient(TalusGp *gp)
{
    gp->solve->backend->op.gradient(gp->solve->op, gp->metric, gp->x, true, gp->g);
    gp->solve->info->products++;
    gp->since_gradient = 0;
}

/* Computes the face of x with its residual (gp->face) and the free gradient (gp->r); first recomputes g from x if
 * REFRESH products have passed. The step length 1.0 given to split_gradient has no effect for bounds. */
static void refresh_face(TalusGp *gp)
{
    if (gp->since_gradient >= REFRESH)
        form_gradient(gp);
    gp->solve->backend->block.split_gradient(gp->solve->op, gp->metric, gp->x, gp->g, 1.0, gp->r,
                                             NULL, NULL, &gp->face);
}

/* Reports x, whose residual is in gp->face, and counts an iteration unless `counted`. True if the solve must go on. */
static bool report_iterate(TalusGp *gp, const double *x, bool counted)
{
    const TalusFace *f = &gp->face;
    if (!counted)
        talus_solve_count(gp->solve, 0);
    return talus_solve_report(gp->solve, x, gp->metric, f->residual2, f->residual_max);
}

/* Ends a projection step, which is an iteration unless Krylov steps alone count. True if the solve must go on. */
static bool end_projection_step(TalusGp *gp)
{
    return gp->params->count == COUNT_ALL ? report_iterate(gp, gp->x, false)
                                          : talus_solve_within_budget(gp->solve);
}

/* Moves x by a p, where a is at most the step to the first bound, and g by a Ap; gp->ap is Ap, slope g'p. Returns the
 * decrease of f. */
static double move_inside(TalusGp *gp, const double *p, double a, double slope, double pAp)
{
    const double *both[] = {gp->x, p};
    gp->solve->backend->vector.combine(gp->solve->op, 2, both, (const double[]){1.0, a}, gp->trial);
    gp->solve->backend->block.project(gp->solve->op, gp->metric, gp->trial); /* removes rounding */
    gp->solve->backend->vector.axpby(gp->solve->op, a, gp->ap, 1.0, gp->g);
    talus_vector_swap(&gp->x, &gp->trial);
    return -(a * slope + 0.5 * a * a * pAp);
}

/* Moves x to the trial point, and g with it, if f falls enough there, (16) of gp.h. Returns the decrease of f, or -1 if
 * the point is rejected. Writes the step from x to `step` and A times it, one product, to `product`. */
static double try_projected(TalusGp *gp, double *step, double *product)
{
    const TalusBackend *b = gp->solve->backend;
    const TalusOperator *op = gp->solve->op;
    const double *both[] = {gp->trial, gp->x};
    b->vector.combine(op, 2, both, (const double[]){1.0, -1.0}, step);
    talus_gp_product(gp, step, product);
    double slope = dot_product(gp, gp->g, step);
    double change = slope + 0.5 * dot_product(gp, step, product);
    if (!(change <= gp->params->mu * fmin(slope, 0.0)))
        return -1.0;
    b->vector.axpby(op, 1.0, product, 1.0, gp->g);
    talus_vector_swap(&gp->x, &gp->trial);
    return -change;
}

/* ---- projection steps ---- */

/* Returns a0, the best step along -g (line=whole) or along its projection onto the tangent cone; both give the same
 * path P(x - a g). 0 if that vector is 0. On return r is the projected direction and *pp the squared length of the
 * vector searched along; unless 0 is returned, *pAp is the curvature of r, with its product in ap, or NaN if
 * unknown. */
static double first_step_length(TalusGp *gp, double *pp, double *pAp)
{
    const TalusBackend *b = gp->solve->backend;
    bool flat, whole = gp->params->line == LINE_WHOLE;
    talus_gp_set_multiple(gp, -1.0, gp->g, gp->r);
    if (!whole)
        b->block.project_tangent(gp->solve->op, gp->metric, gp->x, gp->r, gp->r);
    *pp = dot_product(gp, gp->r, gp->r);
    if (!(*pp > 0.0))
        return 0.0;
    talus_gp_product(gp, gp->r, gp->ap);
    *pAp = dot_product(gp, gp->r, gp->ap);
    double a = *pp / talus_gp_curvature(gp, *pAp, *pp, &flat);
    a = fmin(a, longest_factor(gp, *pp));
    if (whole) {
        b->block.project_tangent(gp->solve->op, gp->metric, gp->x, gp->r, gp->r);
        *pAp = NAN;
    }
    return a;
}

/* Takes one projection step P(x - a g), Eq. (15). Returns the decrease of f, 0 if there is no step. */
static double take_projection_step(TalusGp *gp)
{
    const TalusBackend *b = gp->solve->backend;
    const TalusOperator *op = gp->solve->op;
    const double *both[] = {gp->x, gp->r};
    double pp, pAp, first = first_step_length(gp, &pp, &pAp), inside = 0.0;
    if (!(first > 0.0))
        return 0.0;
    if (!isnan(pAp)) {
        talus_gp_set_multiple(gp, -1.0, gp->r, gp->w);
        inside = b->block.feasible_step(op, gp->metric, gp->x, gp->w);
    }
    double a = first;
    for (int k = 0; k < HALVINGS && a > inside; k++, a *= 0.5) {
        b->vector.combine(op, 2, both, (const double[]){1.0, a}, gp->trial);
        b->block.project(op, gp->metric, gp->trial);
        double decrease = try_projected(gp, gp->w, gp->gw);
        if (decrease >= 0.0)
            return decrease;
    }
    a = fmin(first, inside); /* f decreases along r up to `first` */
    return a > 0.0 ? move_inside(gp, gp->r, a, -pp, pAp) : 0.0;
}

/* Takes projection steps until condition (17) or (18) of gp.h holds or `projections` are done. False if the solve must
 * end. */
static bool run_projection_phase(TalusGp *gp)
{
    double max = 0.0;
    for (int j = 0; j < gp->params->projections; j++) {
        int active, changed;
        double decrease = take_projection_step(gp);
        refresh_face(gp);
        if (!end_projection_step(gp))
            return false;
        if (!(decrease > gp->params->eta1 * max))
            return true;
        /* the trial vector holds the last point */
        gp->solve->backend->block.compare_active(gp->solve->op, gp->metric, gp->trial, gp->x,
                                                 &active, &changed);
        if (changed == 0)
            return true;
        max = fmax(max, decrease);
    }
    return true;
}

/* ---- Krylov steps ---- */

/* True if x + w is inside the face of x, w is not longer than longest_factor() allows, and all active bounds are
 * binding. On true, trial is x + w, and gp->face its face; on false both are undefined. */
static bool face_is_right(TalusGp *gp)
{
    const TalusBackend *b = gp->solve->backend;
    const double *both[] = {gp->x, gp->w};
    talus_gp_set_multiple(gp, -1.0, gp->w, gp->trial);
    if (!(longest_factor(gp, dot_product(gp, gp->w, gp->w)) > 1.0) ||
        !(b->block.feasible_step(gp->solve->op, gp->metric, gp->x, gp->trial) > 1.0))
        return false;
    b->vector.combine(gp->solve->op, 2, both, (const double[]){1.0, 1.0}, gp->trial);
    b->block.split_gradient(gp->solve->op, gp->metric, gp->trial, gp->gw, 1.0, NULL, NULL, NULL,
                            &gp->face);
    return gp->face.unbound == 0;
}

/* Takes Krylov steps until f falls too little, (20) of gp.h, or `inner` steps are done. With the parameter `binding`,
 * takes further steps while face_is_right(). *go becomes false if the solve must end, *more if no further step can
 * decrease f. */
static TalusStatus take_krylov_steps(TalusGp *gp, bool *go, bool *more)
{
    const TalusGpParams *p = gp->params;
    double max = 0.0, eta = p->eta2;
    *more = true;
    talus_gp_set_multiple(gp, 0.0, gp->g, gp->w);
    talus_gp_set_multiple(gp, 1.0, gp->g, gp->gw);
    TALUS_TRY(gp->krylov->begin(gp, gp->krylov_work));
    for (int j = 1; *more && *go; j++) {
        double decrease = gp->krylov->step(gp, gp->krylov_work, more);
        bool slow = j > 1 && decrease <= eta * max;
        max = fmax(max, decrease);
        talus_solve_count(gp->solve, 0);
        *go = talus_solve_within_budget(gp->solve);
        if (!*more || !*go || !(slow || j >= p->inner))
            continue;
        if (!p->binding || !face_is_right(gp))
            break;
        *go = report_iterate(gp, gp->trial, true);
        eta *= slow ? ETA2_FACTOR : 1.0;
        j = 0; /* allows another `inner` steps */
    }
    return TALUS_OK;
}

/* Projected line search from x along w: x = P(x + a w), a halved until the objective f falls enough, Eq. (16) of gp.h.
 * Once a is within the step to the first bound, x moves inside the set instead. Returns the decrease of f; 0, with x
 * unchanged, if w does not descend. */
static double search_along_step(TalusGp *gp)
{
    const TalusBackend *b = gp->solve->backend;
    const TalusOperator *op = gp->solve->op;
    const double *both[] = {gp->x, gp->w}, *gradients[] = {gp->gw, gp->g};
    double slope = dot_product(gp, gp->g, gp->w),
           longest = fmin(1.0, longest_factor(gp, dot_product(gp, gp->w, gp->w)));
    if (!(slope < 0.0))
        return 0.0;
    talus_gp_set_multiple(gp, -1.0, gp->w, gp->trial);
    double inside = b->block.feasible_step(op, gp->metric, gp->x, gp->trial), a = longest;
    for (int k = 0; k < HALVINGS && a > inside; k++, a *= 0.5) {
        b->vector.combine(op, 2, both, (const double[]){1.0, a}, gp->trial);
        b->block.project(op, gp->metric, gp->trial);
        double decrease = try_projected(gp, gp->r, gp->ap);
        if (decrease >= 0.0)
            return decrease;
    }
    b->vector.combine(op, 2, gradients, (const double[]){1.0, -1.0}, gp->ap);
    return move_inside(gp, gp->w, fmin(longest, inside), slope, dot_product(gp, gp->w, gp->ap));
}

/* Takes Krylov steps and searches along their sum w; with the parameter `binding` repeats both while all active bounds
 * are binding and f falls. *go becomes false if the solve must end. */
static TalusStatus run_krylov_phase(TalusGp *gp, bool *go)
{
    bool again = true, more;
    while (*go && again && gp->face.free2 > 0.0) {
        TALUS_TRY(take_krylov_steps(gp, go, &more));
        double decrease = search_along_step(gp);
        refresh_face(gp);
        *go = *go && report_iterate(gp, gp->x, true);
        again = more && gp->params->binding && gp->face.unbound == 0 && decrease > 0.0;
    }
    return TALUS_OK;
}

/* ---- the solve ---- */

TalusStatus talus_gp_solve(TalusSolve *s, const TalusGpParams *p, TalusGpWork *work,
                           const TalusKrylov *krylov, void *krylov_work)
{
    TalusGp gp = {
        .solve = s, .params = p, .krylov = krylov, .krylov_work = krylov_work, .x = s->gamma};
    TALUS_TRY(TALUS_RESERVE_VECTORS(s, &work->vectors, "gradient projection", &gp.trial, &gp.g,
                                    &gp.w, &gp.gw, &gp.r, &gp.ap));
    if (p->metric) {
        TALUS_TRY(talus_solver_make_metric(s, TALUS_METRIC_TRACE, &work->metric, &gp.metric));
        s->backend->op.scale(s->op, gp.metric, true, s->gamma);
    }
    s->backend->block.project(s->op, gp.metric, gp.x);
    form_gradient(&gp);
    refresh_face(&gp);
    gp.largest = talus_norm_lower_bound(s, gp.metric);
    gp.x_size = sqrt(dot_product(&gp, gp.x, gp.x));
    gp.g_size = sqrt(dot_product(&gp, gp.g, gp.g));
    bool go = report_iterate(&gp, gp.x, p->count == COUNT_KRYLOV);
    TalusStatus status = TALUS_OK;
    while (go && status == TALUS_OK) {
        int before = s->info->iterations;
        go = run_projection_phase(&gp);
        status = run_krylov_phase(&gp, &go);
        if (go && s->info->iterations == before) /* no Krylov step, as at a solution */
            go = report_iterate(&gp, gp.x, false);
    }
    if (gp.x != s->gamma)
        talus_gp_set_multiple(&gp, 1.0, gp.x, s->gamma);
    if (gp.metric)
        s->backend->op.scale(s->op, gp.metric, false, s->gamma);
    return status;
}
