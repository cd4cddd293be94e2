#include "support/joints.h"

#include "support/verified.h"

#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 6 }; /* for each link, and a few at the ends */

typedef struct Maker {
    const JointOptions *o;
    TalusRng rng;
    TalusContactDef *contact;
    int count;
} Maker;

static double between(Maker *m, double low, double high)
{
    return low + (high - low) * talus_rng_uniform(&m->rng);
}

static TalusVec3 random_vector(Maker *m, double size)
{
    /* one after the other: compilers evaluate arguments in orders of their own */
    double x = between(m, -size, size), y = between(m, -size, size);
    return talus_vec3(x, y, between(m, -size, size));
}

static TalusVec3 random_normal(Maker *m)
{
    for (;;) {
        TalusVec3 v = random_vector(m, 1.0);
        if (talus_norm(v) > 0.2)
            return talus_scale(1.0 / talus_norm(v), v);
    }
}

/* ---- bodies ---- */

static void make_bodies(Maker *m, TestProblem *p)
{
    size_t links = (size_t)m->o->links;
    double *inv_mass = test_memory(p, links, sizeof *inv_mass);
    double *velocity = test_memory(p, 6 * links, sizeof *velocity);
    TalusSym3 *inv_inertia = test_memory(p, links, sizeof *inv_inertia);
    for (size_t i = 0; i < links; i++) {
        double ratio = m->o->ratio > 0.0 && i + 1 == links ? m->o->ratio : 1.0;
        inv_mass[i] = between(m, 0.8, 1.2) / ratio;
        inv_inertia[i] = (TalusSym3){between(m, 5.0, 9.0) / ratio,  between(m, 5.0, 9.0) / ratio,
                                     between(m, 5.0, 9.0) / ratio,  between(m, -1.0, 1.0) / ratio,
                                     between(m, -1.0, 1.0) / ratio, between(m, -1.0, 1.0) / ratio};
        for (int k = 0; k < 6; k++)
            velocity[6 * i + (size_t)k] = between(m, -0.02, 0.02) - (k == 2 ? 0.1 : 0.0);
    }
    p->def.body_count = m->o->links;
    p->def.inv_mass = inv_mass;
    p->def.inv_inertia = inv_inertia;
    p->def.free_velocity = velocity;
}

/* ---- blocks ---- */

static TalusContactDef *add(Maker *m, int a, int b, TalusVec3 normal)
{
    TalusContactDef *c = &m->contact[m->count++];
    *c = (TalusContactDef){.a = a, .b = b, .normal = normal};
    c->arm_a = talus_add(talus_vec3(0.5, 0.0, 0.0), random_vector(m, 0.05));
    c->arm_b = talus_sub(c->arm_a, talus_vec3(1.0, 0.0, 0.0));
    return c;
}

static TalusContactDef *add_joint(Maker *m, int a, int b, int rows, double most)
{
    TalusContactDef *c = add(m, a, b, random_normal(m));
    c->model = (TalusFrictionModel){.section = TALUS_SECTION_JOINT, .sides = rows};
    c->mu = most;
    return c;
}

static void add_floor(Maker *m, int body)
{
    for (int k = 0; k < 2; k++) {
        TalusContactDef *c = add(m, body, -1, talus_vec3(0.0, 0.0, -1.0));
        c->arm_a = talus_vec3(k ? 0.3 : -0.3, between(m, -0.2, 0.2), -0.5);
        c->mu = m->o->mu;
        c->bias = between(m, 0.0, 0.01);
        c->spinning = c->rolling = m->o->moment_mu;
        c->length = m->o->moment_mu > 0.0 ? 0.3 : 0.0;
    }
}

/* A limit, a motor that cannot do what it is asked, one that can, rows with bounds of all kinds. */
static void add_extras(Maker *m, int link)
{
    TalusContactDef *limit = add(m, link, link + 1, random_normal(m));
    limit->bias = between(m, -0.02, 0.02);
    limit->model.section = TALUS_SECTION_NONE;
    add_joint(m, link, link + 1, 1, 1e-3)->bias = 0.5;
    add_joint(m, link, -1, 1, 10.0)->bias = between(m, -0.1, 0.1);
    add_joint(m, link + 1, -1, 1 + link % TALUS_JOINT_ROWS, link % 3 ? 0.02 : 0.0);
}

static void add_links(Maker *m)
{
    const int links = m->o->links;
    for (int i = 0; m->o->extras && i + 1 < links; i += 2) {
        TalusContactDef *spring = add_joint(m, i, i + 1, 1, INFINITY);
        spring->bias = between(m, -0.1, 0.1);
        spring->compliance = between(m, 0.2, 2.0);
    }
    add_joint(m, 0, -1, TALUS_JOINT_ROWS, INFINITY)->arm_a = talus_vec3(-0.5, 0.0, 0.0);
    for (int i = 0; i + 1 < links; i++)
        add_joint(m, i, i + 1, m->o->masks ? 1 + i % TALUS_JOINT_ROWS : TALUS_JOINT_ROWS, INFINITY);
    for (int k = 0; m->o->closed && k < 2; k++)
        add_joint(m, links - 1, -1, TALUS_JOINT_ROWS, INFINITY)->arm_a = talus_vec3(0.5, 0.0, 0.0);
}

TestProblem make_joints(const JointOptions *options)
{
    TestProblem p = {.name = "joints"};
    Maker m = {.o = options, .rng = talus_rng_from_seed(options->seed)};
    int most = MOST_BLOCKS * options->links + 8;
    m.contact = test_memory(&p, (size_t)most, sizeof *m.contact);
    make_bodies(&m, &p);
    for (int i = options->links > 1 ? options->links - 2 : 0; i < options->links; i++)
        add_floor(&m, i);
    for (int i = 0; options->extras && i + 1 < options->links; i += 2)
        add_extras(&m, i);
    add_links(&m);
    p.def.contacts = m.contact;
    p.def.contact_count = m.count;
    return p;
}

TestProblem make_joint_matrix(const TalusProblemDef *def)
{
    TestProblem dense = make_dense_copy(def);
    TalusFrictionModel *models = test_memory(&dense, (size_t)def->contact_count, sizeof *models);
    for (int i = 0; i < def->contact_count; i++)
        models[i] = def->contacts[i].model;
    dense.def.model = models;
    return dense;
}

/* ---- the dense solution ---- */

typedef struct Dense {
    const TalusProblemDef *def;
    int n, rows;
    double *matrix, *q, step;
    VerifySet *set;
} Dense;

static void project(const Dense *d, double *x)
{
    for (int i = 0; i < d->n / d->rows; i++) {
        const VerifySet *set = &d->set[i];
        bool cone = set->rows < 6 && set->model.section == TALUS_SECTION_DISC;
        if (cone)
            verify_cone_project(set->rows, set->mu, x + i * d->rows);
        else
            verify_set_project(set, x + i * d->rows);
    }
}

/* next = P(y - step (A y + q)) */
static void gradient_step(const Dense *d, const double *y, double *next)
{
    for (int i = 0; i < d->n; i++) {
        double sum = d->q[i];
        for (int k = 0; k < d->n; k++)
            sum += d->matrix[(size_t)i * (size_t)d->n + (size_t)k] * y[k];
        next[i] = y[i] - d->step * sum;
    }
    project(d, next);
}

static Dense make_dense(const TalusProblemDef *def)
{
    Dense d = {.def = def, .n = verify_size(def), .rows = verify_rows(def)};
    size_t n = (size_t)d.n;
    double most = 0.0;
    d.matrix = calloc(n * n + 1, sizeof *d.matrix);
    d.q = calloc(n + 1, sizeof *d.q);
    d.set = calloc(n + 1, sizeof *d.set);
    verify_matrix(def, d.matrix);
    verify_velocity(def, NULL, d.q);
    for (int i = 0; i < d.n; i++) {
        double sum = 0.0;
        for (int k = 0; k < d.n; k++)
            sum += fabs(d.matrix[(size_t)i * n + (size_t)k]);
        most = fmax(most, sum);
    }
    VerifyPoint zero = verify_zero_point(def);
    memcpy(d.set, zero.set, (size_t)zero.blocks * sizeof *d.set);
    verify_point_free(&zero);
    d.step = 1.0 / most;
    return d;
}

/* Nesterov's steps, begun again where they go uphill, until nothing moves. */
static void accelerate(const Dense *d, double *x)
{
    size_t bytes = (size_t)d->n * sizeof *x;
    double *y = malloc(bytes + 1), *next = malloc(bytes + 1), t = 1.0;
    memcpy(y, x, bytes);
    for (int k = 0, still = 0; k < 400000 && still < 20; k++) {
        double uphill = 0.0, moved = 0.0, size = 0.0,
               t_next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * t * t));
        gradient_step(d, y, next);
        for (int i = 0; i < d->n; i++) {
            uphill += (y[i] - next[i]) * (next[i] - x[i]);
            moved = fmax(moved, fabs(next[i] - y[i]));
            size = fmax(size, fabs(next[i]));
        }
        double beta = uphill > 0.0 ? 0.0 : (t - 1.0) / t_next;
        t = uphill > 0.0 ? 1.0 : t_next;
        for (int i = 0; i < d->n; i++)
            y[i] = next[i] + beta * (next[i] - x[i]);
        memcpy(x, next, bytes);
        still = moved <= 4e-16 * size ? still + 1 : 0;
    }
    free(y);
    free(next);
}

double *solve_densely(const TalusProblemDef *def, double *residual)
{
    Dense d = make_dense(def);
    double *x = calloc((size_t)d.n + 1, sizeof *x);
    accelerate(&d, x);
    *residual = verify_residual(def, x).rms;
    free(d.matrix);
    free(d.q);
    free(d.set);
    return x;
}
