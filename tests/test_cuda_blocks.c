/* Block-by-block operations of the cuda backend against those of the CPU. */

#include "cuda_blocks.h"

/* ---- projections ---- */

static void check_project(Case *c)
{
    Both x = make_both(c, c->d);
    cpu->block.project(c->op, metric_of(c), x.host);
    cuda->block.project(&c->device, device_metric_of(c), x.device);
    same_blocks(c, &x, c->d, c->d);
    free_both(&x);
}

TEST(projection)
{
    NEEDS_CUDA();
    for_cases(false, check_project);
}

static void same_forward(const TalusForwardSums *got, const TalusForwardSums *expected)
{
    same_sum(got->r2, expected->r2);
    same_sum(got->rg, expected->rg);
    same_sum(got->residual2, expected->residual2);
    same_sum(got->residual_max, expected->residual_max);
}

static void check_forward(Case *c)
{
    const TalusMetricBlock *m = metric_of(c), *dm = device_metric_of(c);
    Both x = make_both(c, c->x), g = make_both(c, c->g);
    Both t = make_both(c, NULL), r = make_both(c, NULL);
    TalusForwardSums expected, got, alone;
    cpu->block.forward_backward(c->op, m, x.host, g.host, 0.3, t.host, r.host, &expected);
    cuda->block.forward_backward(&c->device, dm, x.device, g.device, 0.3, t.device, r.device, &got);
    same_blocks(c, &t, c->x, c->g);
    same_blocks(c, &r, c->x, c->g);
    same_forward(&got, &expected);
    cuda->block.forward_backward(&c->device, dm, x.device, g.device, 0.3, NULL, NULL, &alone);
    CHECK(memcmp(&alone, &got, sizeof got) == 0);
    cuda->block.forward_backward(&c->device, dm, x.device, g.device, 0.3, x.device, NULL, &alone);
    CHECK(memcmp(&alone, &got, sizeof got) == 0);
    memcpy(x.host, t.host, (size_t)c->n * sizeof(double));
    same_blocks(c, &x, c->x, c->g);
    free_both(&x);
    free_both(&g);
    free_both(&t);
    free_both(&r);
}

TEST(forward_backward)
{
    NEEDS_CUDA();
    for_cases(false, check_forward);
}

/* ---- faces ---- */

static void check_split(Case *c)
{
    const TalusMetricBlock *m = metric_of(c), *dm = device_metric_of(c);
    Both x = make_both(c, c->x), g = make_both(c, c->g), part[3];
    TalusFace expected, got, alone;
    for (int k = 0; k < 3; k++)
        part[k] = make_both(c, NULL);
    memset(&got, 0, sizeof got);
    memset(&alone, 0, sizeof alone);
    cpu->block.split_gradient(c->op, m, x.host, g.host, 0.3, part[0].host, part[1].host,
                              part[2].host, &expected);
    cuda->block.split_gradient(&c->device, dm, x.device, g.device, 0.3, part[0].device,
                               part[1].device, part[2].device, &got);
    for (int k = 0; k < 3; k++)
        same_blocks(c, &part[k], c->x, c->g);
    same_sum(got.free2, expected.free2);
    same_sum(got.reduced_g, expected.reduced_g);
    same_sum(got.chopped_g, expected.chopped_g);
    same_sum(got.chopped2, expected.chopped2);
    same_sum(got.residual2, expected.residual2);
    same_sum(got.residual_max, expected.residual_max);
    CHECK_INT(got.active, expected.active);
    CHECK_INT(got.unbound, expected.unbound);
    CHECK(got.active > 0 && got.active < c->blocks && got.unbound > 0);
    cuda->block.split_gradient(&c->device, dm, x.device, g.device, 0.3, NULL, NULL, NULL, &alone);
    CHECK(memcmp(&alone, &got, sizeof got) == 0);
    cpu->block.clear_active(c->op, m, x.host, g.host);
    cuda->block.clear_active(&c->device, dm, x.device, g.device);
    same_blocks(c, &g, c->x, c->g);
    for (int k = 0; k < 3; k++)
        free_both(&part[k]);
    free_both(&x);
    free_both(&g);
}

TEST(split_and_mask)
{
    NEEDS_CUDA();
    for_cases(false, check_split);
}

static void check_tangent(Case *c)
{
    Both x = make_both(c, c->x), d = make_both(c, c->d), out = make_both(c, NULL);
    cpu->block.project_tangent(c->op, metric_of(c), x.host, d.host, out.host);
    cuda->block.project_tangent(&c->device, device_metric_of(c), x.device, d.device, out.device);
    same_blocks(c, &out, c->d, c->d);
    cuda->block.project_tangent(&c->device, device_metric_of(c), x.device, d.device,
                                d.device); /* over d */
    memcpy(d.host, out.host, (size_t)c->n * sizeof(double));
    same_blocks(c, &d, c->d, c->d);
    free_both(&x);
    free_both(&d);
    free_both(&out);
}

TEST(tangent_cone)
{
    NEEDS_CUDA();
    for_cases(false, check_tangent);
}

static void check_feasible(Case *c)
{
    const TalusMetricBlock *m = metric_of(c), *dm = device_metric_of(c);
    Both x = make_both(c, c->x), p = make_both(c, c->d);
    for (int trial = 0; trial < 2; trial++) {
        cpu->block.clear_active(c->op, m, x.host, p.host);
        for (int k = 0; k < c->n; k++) /* others are the first to leave */
            p.host[k] *= k / c->rows % 2 == trial ? 1.0 : 1e-3;
        settle(c, &p);
        same_sum(cuda->block.feasible_step(&c->device, dm, x.device, p.device),
                 cpu->block.feasible_step(c->op, m, x.host, p.host));
        memcpy(p.host, c->d, (size_t)c->n * sizeof(double));
    }
    memset(p.host, 0, (size_t)c->n * sizeof(double));
    settle(c, &p);
    CHECK(cuda->block.feasible_step(&c->device, dm, x.device, p.device) == INFINITY);
    free_both(&x);
    free_both(&p);
}

TEST(feasible_step)
{
    NEEDS_CUDA();
    for_cases(false, check_feasible);
}

static void check_compare(Case *c)
{
    Both x = make_both(c, c->x), y = make_both(c, c->d);
    int active, changed, expected_active, expected_changed;
    cpu->block.project(c->op, metric_of(c), y.host);
    settle(c, &y);
    cpu->block.compare_active(c->op, metric_of(c), x.host, y.host, &expected_active,
                              &expected_changed);
    cuda->block.compare_active(&c->device, device_metric_of(c), x.device, y.device, &active,
                               &changed);
    CHECK_INT(active, expected_active);
    CHECK_INT(changed, expected_changed);
    CHECK(changed > 0 && active != changed);
    free_both(&x);
    free_both(&y);
}

TEST(compare)
{
    NEEDS_CUDA();
    for_cases(false, check_compare);
}

static void check_scale(Case *c)
{
    Both x = make_both(c, c->d);
    for (int into = 1; into >= 0; into--) {
        cpu->op.scale(c->op, metric_of(c), into, x.host);
        cuda->op.scale(&c->device, device_metric_of(c), into, x.device);
        same_blocks(c, &x, x.host, x.host);
    }
    free_both(&x);
}

TEST(scale)
{
    NEEDS_CUDA();
    for_cases(true, check_scale);
}

/* ---- broken numbers, no blocks, many blocks ---- */

TEST(nan_reaches_the_residual)
{
    NEEDS_CUDA();
    Case c = make_case(3, false, false, PLAIN);
    TalusForwardSums forward;
    TalusFace face;
    c.g[4] = NAN;
    Both x = make_both(&c, c.x), g = make_both(&c, c.g);
    cuda->block.forward_backward(&c.device, NULL, x.device, g.device, 0.2, NULL, NULL, &forward);
    cuda->block.split_gradient(&c.device, NULL, x.device, g.device, 0.2, NULL, NULL, NULL, &face);
    CHECK(isnan(forward.residual2) && isnan(forward.residual_max));
    CHECK(isnan(face.residual2) && isnan(face.residual_max));
    free_both(&x);
    free_both(&g);
    free_case(&c);
}

/* N = 1 with `blocks` blocks of one row. */
typedef struct Diagonal {
    TalusOperator op, device;
    int32_t *start, *column;
    double *values, (*diagonal)[2];
} Diagonal;

static void make_diagonal(Diagonal *m, int blocks)
{
    size_t n = (size_t)blocks + 1;
    *m = (Diagonal){.start = calloc(n, sizeof *m->start),
                    .column = calloc(n, sizeof *m->column),
                    .values = calloc(n, sizeof *m->values),
                    .diagonal = calloc(n, sizeof *m->diagonal)};
    for (int i = 0; i <= blocks; i++) {
        m->start[i] = m->column[i] = i;
        m->values[i] = m->diagonal[i][0] = 1.0;
    }
    m->op = (TalusOperator){.rows = 1,
                            .blocks = blocks,
                            .row_start = m->start,
                            .column = m->column,
                            .values = m->values,
                            .offset = m->values,
                            .diagonal = m->diagonal};
    CHECK_OK(cuda_mirror(&m->op, &m->device));
    CHECK_OK(cuda->op.reserve_scratch(&m->device));
}

static void free_diagonal(Diagonal *m)
{
    CHECK_OK(cuda->check(cuda_context()));
    cuda->op.mirror_clear(&m->device);
    free(m->start);
    free(m->column);
    free(m->values);
    free(m->diagonal);
}

TEST(no_blocks)
{
    NEEDS_CUDA();
    Diagonal m;
    make_diagonal(&m, 0);
    double *none = NULL, *x = NULL;
    size_t room = 0;
    TalusForwardSums forward = {NAN, NAN, NAN, NAN};
    int active = -1, changed = -1;
    CHECK_OK(cuda->vector.reserve(cuda_op(), &x, &room, 1, "test"));
    cuda->block.project(&m.device, NULL, none);
    cuda->block.forward_backward(&m.device, NULL, x, x, 0.2, NULL, NULL, &forward);
    cuda->block.compare_active(&m.device, NULL, x, x, &active, &changed);
    CHECK(forward.r2 == 0.0 && forward.residual2 == 0.0 && forward.residual_max == 0.0);
    CHECK(active == 0 && changed == 0);
    CHECK(cuda->block.feasible_step(&m.device, NULL, x, x) == INFINITY);
    cuda->vector.release(x);
    free_diagonal(&m);
}

/* More than the threads of a kernel that sums: each takes several. */
TEST(more_blocks_than_threads)
{
    NEEDS_CUDA();
    const int n = 1056 * 256 + 1000;
    Diagonal m;
    make_diagonal(&m, n);
    double *x = vector(n), *a = NULL, *b = NULL;
    size_t a_room = 0, b_room = 0;
    int active, changed, expected = 0;
    for (int i = 0; i < n; i++) {
        x[i] = i % 3 == 0 || i == n - 1 ? 0.0 : 1.0;
        expected += x[i] == 0.0;
    }
    CHECK_OK(cuda->vector.reserve(cuda_op(), &b, &b_room, (size_t)n, "test"));
    CHECK_OK(cuda->vector.reserve(cuda_op(), &a, &a_room, (size_t)n, "test"));
    cuda->vector.put(cuda_op(), b, x, (size_t)n);
    cuda->vector.zero(cuda_op(), a, (size_t)n);
    cuda->block.compare_active(&m.device, NULL, a, b, &active, &changed);
    CHECK_INT(active, expected);
    CHECK_INT(changed, n - expected);
    for (int i = 0; i < n; i++)
        x[i] = 1.0;
    cuda->vector.put(cuda_op(), a, x, (size_t)n);
    for (int i = 0; i < n; i++)
        x[i] = i == 5 ? 4.0 : 0.5; /* the least step is not the last that its thread sees */
    cuda->vector.put(cuda_op(), b, x, (size_t)n);
    CHECK(cuda->block.feasible_step(&m.device, NULL, a, b) == 0.25);
    cuda->vector.release(a);
    cuda->vector.release(b);
    free(x);
    free_diagonal(&m);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(projection);
    RUN(forward_backward);
    RUN(split_and_mask);
    RUN(tangent_cone);
    RUN(feasible_step);
    RUN(compare);
    RUN(scale);
    RUN(nan_reaches_the_residual);
    RUN(no_blocks);
    RUN(more_blocks_than_threads);
    return cuda_test_result();
}
