#include "support/models.h"

#include "support/test.h"

#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

TalusFrictionModel model_at(int section, int law)
{
    const TalusSection sections[MODEL_SECTIONS] = {TALUS_SECTION_DISC, TALUS_SECTION_SQUARE,
                                                   TALUS_SECTION_POLYGON, TALUS_SECTION_POLYGON};
    const int sides[MODEL_SECTIONS] = {0, 0, 3, 8};
    TalusFrictionModel model = {.section = sections[section],
                                .law =
                                    law == MODEL_MOVING ? TALUS_LAW_COULOMB : (TalusFrictionLaw)law,
                                .sides = sides[section]};
    return model;
}

static TalusFrictionModel model_of(const ModelOptions *o, int i)
{
    return model_at(o->section < 0 ? i % MODEL_SECTIONS : o->section,
                    o->law < 0 ? i / MODEL_SECTIONS % 3 : o->law);
}

double *model_vector(int n, uint64_t seed, double low)
{
    TalusRng rng = talus_rng_from_seed(seed);
    double *x = calloc((size_t)n + 1, sizeof *x);
    for (int k = 0; k < n; k++)
        x[k] = talus_rng_uniform(&rng) + low;
    return x;
}

/* ---- the problem ---- */

static void set_models(TestProblem *p, const ModelOptions *o)
{
    TalusContactDef *contacts = (TalusContactDef *)p->def.contacts;
    for (int i = 0; i < p->def.contact_count; i++) {
        TalusContactDef *c = &contacts[i];
        c->mu = i % 7 == 3 ? 0.0 : c->mu;
        c->model = model_of(o, i);
        c->length = o->rows == 6 ? 0.4 + 0.1 * (i % 4) : 0.0;
        if (o->rows < 6 || i % 7 == 3)
            continue;
        c->spinning = i % 5 == 1 ? 0.0 : 0.1 + 0.02 * (i % 3);
        c->rolling = i % 5 == 2 ? 0.0 : 0.2 + 0.03 * (i % 3);
    }
}

static TestProblem written_out(TestProblem *p)
{
    TestProblem dense = make_dense_copy(&p->def);
    TalusFrictionModel *models = test_memory(&dense, (size_t)p->def.contact_count, sizeof *models);
    for (int i = 0; i < p->def.contact_count; i++)
        models[i] = p->def.contacts[i].model;
    dense.def.model = models;
    free_test_problem(p);
    return dense;
}

static TalusMetricBlock *random_metric(const TalusOperator *op)
{
    TalusRng rng = talus_rng_from_seed(77);
    TalusMetricBlock *m = calloc((size_t)op->blocks, sizeof *m);
    for (int i = 0; i < op->blocks; i++) {
        m[i][0] = 0.5 + talus_rng_uniform(&rng);
        m[i][1] = 0.5 + talus_rng_uniform(&rng);
        m[i][2] = op->mu[i] * m[i][0] / m[i][1];
        m[i][3] = 1.0 / (1.0 + m[i][2] * m[i][2]);
    }
    return m;
}

ModelCase make_model_case(const ModelOptions *o, TalusPool *pool)
{
    ModelCase c = {.test = make_heap(&o->heap), .moving = o->law == MODEL_MOVING};
    set_models(&c.test, o);
    if (o->matrix)
        c.test = written_out(&c.test);
    CHECK_OK(talus_problem_create(&c.test.def, pool, &c.problem));
    if (c.moving)
        CHECK_OK(talus_problem_set_prisms(c.problem, true));
    c.op = talus_problem_operator(c.problem);
    c.rows = c.op->rows;
    c.blocks = c.op->blocks;
    c.n = c.rows * c.blocks;
    CHECK_INT(c.rows, o->rows);
    c.metric = o->scaled ? random_metric(c.op) : NULL;
    double *estimate = model_vector(c.blocks, 78, -0.1);
    for (int i = 0; c.op->estimate && i < c.blocks; i++)
        c.op->estimate[i] = fmax(estimate[i], 0.0);
    free(estimate);
    return c;
}

void free_model_case(ModelCase *c)
{
    talus_problem_destroy(c->problem);
    free_test_problem(&c->test);
    free(c->metric);
}

double model_scale(const ModelCase *c, int i, int k)
{
    return c->metric ? c->metric[i][k > 0] : 1.0;
}

/* ---- what the models say ---- */

ModelBlock model_law(const ModelCase *c, int i)
{
    const TalusProblemDef *def = &c->test.def;
    ModelBlock b = {.estimate = c->op->estimate ? c->op->estimate[i] : 0.0};
    if (def->contacts) {
        const TalusContactDef *d = &def->contacts[i];
        b = (ModelBlock){d->model, d->mu, {d->spinning, d->rolling}, false, b.estimate};
    } else {
        b.model = def->model[i];
        b.mu = def->mu[i];
    }
    if (b.mu == 0.0 && b.moment_mu[0] == 0.0 && b.moment_mu[1] == 0.0)
        b.model = (TalusFrictionModel){0};
    b.prism = b.model.law == TALUS_LAW_FIXED;
    return b;
}

ModelBlock model_block(const ModelCase *c, int i)
{
    ModelBlock b = model_law(c, i);
    b.prism = b.prism || (c->moving && b.model.law == TALUS_LAW_COULOMB);
    return b;
}

bool model_allows(const ModelBlock *b, int rows, const double *gamma, double slack)
{
    double size = b->prism ? b->estimate : gamma[0], radius = b->mu * size;
    const double *t = gamma + 1;
    bool ok = gamma[0] >= -slack;
    if (b->model.section == TALUS_SECTION_DISC)
        ok = ok && hypot(t[0], t[1]) <= radius + slack;
    else if (b->model.section == TALUS_SECTION_SQUARE)
        ok = ok && fabs(t[0]) <= radius + slack && fabs(t[1]) <= radius + slack;
    for (int k = 0; k < b->model.sides; k++) {
        double angle = (2 * k + 1) * acos(-1.0) / b->model.sides;
        ok = ok && t[0] * cos(angle) + t[1] * sin(angle) <=
                       radius * cos(acos(-1.0) / b->model.sides) + slack;
    }
    if (rows == 6)
        ok = ok && fabs(gamma[3]) <= b->moment_mu[0] * size + slack &&
             hypot(gamma[4], gamma[5]) <= b->moment_mu[1] * size + slack;
    return ok;
}

double model_shift(const ModelBlock *b, int rows, const double *u)
{
    double shift = 0.0;
    if (b->model.section == TALUS_SECTION_DISC)
        shift = b->mu * hypot(u[1], u[2]);
    else if (b->model.section == TALUS_SECTION_SQUARE)
        shift = b->mu * (fabs(u[1]) + fabs(u[2]));
    for (int k = 0; k < b->model.sides; k++) {
        double angle = 2 * k * acos(-1.0) / b->model.sides;
        shift = fmax(shift, -b->mu * (u[1] * cos(angle) + u[2] * sin(angle)));
    }
    if (rows == 6)
        shift += b->moment_mu[0] * fabs(u[3]) + b->moment_mu[1] * hypot(u[4], u[5]);
    return shift;
}

void model_project(const ModelBlock *b, int rows, const double s[2], double *x)
{
    double ratio = s[0] / s[1], moment_mu[2] = {ratio * b->moment_mu[0], ratio * b->moment_mu[1]};
    TalusFrictionModel model = b->model;
    model.law = b->prism ? TALUS_LAW_FIXED : TALUS_LAW_CCP;
    talus_set_project(model, rows, ratio * b->mu, moment_mu, b->estimate / s[0], x);
}

void model_project_all(const ModelCase *c, double *x)
{
    for (int i = 0; i < c->blocks; i++) {
        ModelBlock b = model_block(c, i);
        double s[2] = {model_scale(c, i, 0), model_scale(c, i, 1)};
        model_project(&b, c->rows, s, x + i * c->rows);
    }
}
