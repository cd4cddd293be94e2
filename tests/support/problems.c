#include "support/problems.h"

#include "support/test.h"
#include "support/verified.h"

#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <talus/world.h>

/* ---- memory ---- */

void *test_memory(TestProblem *p, size_t count, size_t element)
{
    if (p->pieces == TEST_PROBLEM_PIECES)
        abort();
    return p->memory[p->pieces++] = calloc(count + 1, element);
}

void free_test_problem(TestProblem *p)
{
    for (int i = 0; i < p->pieces; i++)
        free(p->memory[i]);
    memset(p, 0, sizeof *p);
}

static void *keep(TestProblem *p, const void *source, size_t count, size_t element)
{
    void *copy = test_memory(p, count, element);
    if (source && count)
        memcpy(copy, source, count * element);
    return copy;
}

TestProblem copy_test_problem(const TalusProblemDef *def, const char *name)
{
    TestProblem p = {.name = name, .def = *def};
    size_t bodies = (size_t)def->body_count, n = (size_t)def->rows * (size_t)def->block_count;
    if (def->contacts) {
        p.def.inv_mass = keep(&p, def->inv_mass, bodies, sizeof(double));
        p.def.inv_inertia = keep(&p, def->inv_inertia, bodies, sizeof(TalusSym3));
        p.def.radius = keep(&p, def->radius, bodies, sizeof(double));
        p.def.free_velocity = keep(&p, def->free_velocity, 6 * bodies, sizeof(double));
        p.def.contacts =
            keep(&p, def->contacts, (size_t)def->contact_count, sizeof(TalusContactDef));
        return p;
    }
    size_t entries = (size_t)def->row_start[n];
    p.def.row_start = keep(&p, def->row_start, n + 1, sizeof(int32_t));
    p.def.column = keep(&p, def->column, entries, sizeof(int32_t));
    p.def.values = keep(&p, def->values, entries, sizeof(double));
    p.def.offset = keep(&p, def->offset, n, sizeof(double));
    p.def.mu = keep(&p, def->mu, def->rows == 3 ? (size_t)def->block_count : 0, sizeof(double));
    if (def->model)
        p.def.model = keep(&p, def->model, (size_t)def->block_count, sizeof *def->model);
    return p;
}

/* ---- bodies and contacts under construction ---- */

/* Writable views of a def's arrays, with room for `contacts`. */
typedef struct Maker {
    double *inv_mass, *radius, *free_velocity;
    TalusSym3 *inv_inertia;
    TalusContactDef *contacts;
    TalusVec3 *position;
    int bodies, count;
    TalusRng rng;
} Maker;

static Maker begin(TestProblem *p, uint64_t seed, int bodies, int contacts)
{
    Maker m = {.bodies = bodies, .rng = talus_rng_from_seed(seed)};
    size_t n = (size_t)bodies;
    p->def.inv_mass = m.inv_mass = test_memory(p, n, sizeof(double));
    p->def.radius = m.radius = test_memory(p, n, sizeof(double));
    p->def.free_velocity = m.free_velocity = test_memory(p, 6 * n, sizeof(double));
    p->def.inv_inertia = m.inv_inertia = test_memory(p, n, sizeof(TalusSym3));
    p->def.contacts = m.contacts = test_memory(p, (size_t)contacts, sizeof(TalusContactDef));
    m.position = test_memory(p, n, sizeof(TalusVec3));
    p->def.body_count = bodies;
    return m;
}

/* One draw per full expression: C leaves the order of arguments to the compiler, and a problem shall
 * be the same under all of them. */
static double between(TalusRng *rng, double low, double high)
{
    return low + (high - low) * talus_rng_uniform(rng);
}

static TalusVec3 random_vector(TalusRng *rng, double size)
{
    double x = between(rng, -size, size), y = between(rng, -size, size);
    return talus_vec3(x, y, between(rng, -size, size));
}

static TalusVec3 unit(TalusVec3 v)
{
    return talus_normalize(v, talus_vec3(0.0, 0.0, 1.0));
}

static void set_sphere(Maker *m, int i, TalusVec3 x, double radius, double mass)
{
    double k = mass > 0.0 ? 2.5 / (mass * radius * radius) : 0.0;
    m->position[i] = x;
    m->radius[i] = radius;
    m->inv_mass[i] = mass > 0.0 ? 1.0 / mass : 0.0;
    m->inv_inertia[i] = (TalusSym3){k, k, k, 0.0, 0.0, 0.0};
}

/* Not a sphere any more: I^-1 = R diag R' with principal values up to eight times apart. */
static void make_general(Maker *m, int i)
{
    double k = m->inv_inertia[i].xx;
    TalusSym3 principal = {.xx = k};
    principal.yy = k * between(&m->rng, 1.0, 8.0);
    principal.zz = k * between(&m->rng, 0.5, 4.0);
    TalusQuat q = talus_quat_cayley(random_vector(&m->rng, 2.0));
    m->inv_inertia[i] = talus_sym3_rotate(q, principal);
    m->radius[i] = 0.0;
}

/* A contact along `normal`; spheres get exactly the arms of the compact form. */
static TalusContactDef *add_contact(Maker *m, int a, int b, TalusVec3 normal, double ra, double rb)
{
    TalusContactDef *c = &m->contacts[m->count++];
    *c = (TalusContactDef){.a = a, .b = b, .normal = normal};
    c->arm_a = talus_scale(ra, normal);
    c->arm_b = talus_scale(-rb, normal);
    if (m->radius[a] == 0.0)
        c->arm_a = talus_add(c->arm_a, random_vector(&m->rng, 0.3 * ra));
    if (b >= 0 && m->radius[b] == 0.0)
        c->arm_b = talus_add(c->arm_b, random_vector(&m->rng, 0.3 * rb));
    return c;
}

static void finish(TestProblem *p, const Maker *m)
{
    p->def.contact_count = m->count;
}

static void add_gravity(Maker *m, double dv, double noise)
{
    for (int i = 0; i < m->bodies; i++)
        for (int k = 0; k < 6; k++)
            m->free_velocity[6 * i + k] = (k == 2 ? -dv : 0.0) + between(&m->rng, -noise, noise);
}

/* ---- heaps ---- */

static int run_of(const Maker *m, const TalusContactDef *c)
{
    bool spheres = m->radius[c->a] > 0.0 && (c->b < 0 || m->radius[c->b] > 0.0);
    return !spheres ? 2 : c->b < 0 ? 1 : 0;
}

/* Pairs of spheres, spheres on the floor, the rest: the order that keeps the compact form. */
static void sort_runs(Maker *m)
{
    size_t bytes = (size_t)m->count * sizeof *m->contacts;
    TalusContactDef *old = malloc(bytes + 1);
    int n = 0;
    memcpy(old, m->contacts, bytes);
    for (int run = 0; run < 3; run++)
        for (int i = 0; i < m->count; i++)
            if (run_of(m, &old[i]) == run)
                m->contacts[n++] = old[i];
    free(old);
}

static void place_bodies(Maker *m, const HeapOptions *o, double *size)
{
    for (int i = 0; i < m->bodies; i++) {
        TalusVec3 cell = talus_vec3(i % o->nx, i / o->nx % o->ny, i / (o->nx * o->ny));
        TalusVec3 x = talus_add(cell, random_vector(&m->rng, 0.04));
        double mass = between(&m->rng, 0.5, 2.0);
        size[i] = between(&m->rng, 0.47, 0.53);
        set_sphere(m, i, x, size[i], mass);
        if (talus_rng_uniform(&m->rng) < o->general)
            make_general(m, i);
    }
}

static void touch_neighbour(Maker *m, const double *size, int a, int b)
{
    TalusVec3 d = talus_sub(m->position[b], m->position[a]);
    TalusContactDef *c = add_contact(m, a, b, unit(d), size[a], size[b]);
    c->bias = (talus_norm(d) - size[a] - size[b]) / 0.5; /* phi / h */
}

static void touch_floor(Maker *m, const double *size, int a)
{
    double x = between(&m->rng, -0.3, 0.3), y = between(&m->rng, -0.3, 0.3);
    TalusVec3 down = unit(talus_vec3(x, y, -1.0));
    TalusContactDef *c = add_contact(m, a, -1, down, size[a], 0.0); /* may draw numbers first */
    c->bias = between(&m->rng, -0.02, 0.02);
}

static void touch_all(Maker *m, const HeapOptions *o, const double *size)
{
    for (int i = 0; i < m->bodies; i++) {
        if (i % o->nx + 1 < o->nx)
            touch_neighbour(m, size, i, i + 1);
        if (i / o->nx % o->ny + 1 < o->ny)
            touch_neighbour(m, size, i, i + o->nx);
        if (i + o->nx * o->ny < m->bodies)
            touch_neighbour(m, size, i, i + o->nx * o->ny);
        if (i < o->nx * o->ny)
            touch_floor(m, size, i);
    }
}

TestProblem make_heap(const HeapOptions *o)
{
    TestProblem p = {.name = "heap"};
    int bodies = o->nx * o->ny * o->nz;
    Maker m = begin(&p, o->seed, bodies, 4 * bodies);
    double *size = malloc(((size_t)bodies + 1) * sizeof *size);
    place_bodies(&m, o, size);
    touch_all(&m, o, size);
    sort_runs(&m);
    add_gravity(&m, 0.05, 0.02);
    for (int i = 0; i < m.count; i++) {
        m.contacts[i].mu = o->mu * between(&m.rng, 0.5, 1.5);
        m.contacts[i].compliance = i % 2 ? o->compliance : 0.0;
    }
    free(size);
    finish(&p, &m);
    return p;
}

/* ---- planted optima ---- */

/* Impulse and gradient of one contact with relative velocity u: (gamma, g) is complementary, with g's
 * tangential part equal to u's and its normal part free (the bias makes it so). */
static void plant_contact(TalusRng *rng, int rows, double mu, const double *u, double *gamma,
                          double *g)
{
    double slip = rows == 3 ? hypot(u[1], u[2]) : 0.0;
    bool closed = talus_rng_uniform(rng) < 0.65;
    gamma[0] = closed ? between(rng, 0.2, 1.0) : 0.0;
    g[0] = mu * slip + (closed ? 0.0 : between(rng, 0.1, 1.0));
    for (int k = 1; k < rows; k++) {
        g[k] = u[k];
        gamma[k] = slip > 0.0 ? -mu * gamma[0] * u[k] / slip /* sliding: opposite to u */
                              : between(rng, -0.6, 0.6) * mu * gamma[0];
    }
}

void plant_optimum(TestProblem *p, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    const TalusProblemDef *def = &p->def;
    TalusContactDef *contacts = (TalusContactDef *)def->contacts;
    double *v = (double *)def->free_velocity;
    int rows = verify_rows(def);
    size_t n = (size_t)verify_size(def), entries = 6 * (size_t)def->body_count;
    double *u = calloc(n, sizeof *u), *moved = calloc(entries, sizeof *moved);
    p->gamma = test_memory(p, n, sizeof(double));
    p->gradient = test_memory(p, n, sizeof(double));
    for (size_t k = 0; k < entries; k += 6) {
        double speed = talus_rng_uniform(&rng) < 0.5 ? 0.5 : 0.0;
        for (size_t c = 0; c < 6; c++)
            v[k + c] = between(&rng, -speed, speed);
    }
    for (int i = 0; i < def->contact_count; i++)
        contacts[i].bias = 0.0;
    verify_velocity(def, NULL, u); /* D'v of the velocities that shall come out */
    for (int i = 0; i < def->contact_count; i++) {
        double *gamma = p->gamma + i * rows, *g = p->gradient + i * rows;
        plant_contact(&rng, rows, contacts[i].mu, u + i * rows, gamma, g);
        contacts[i].bias = g[0] - contacts[i].compliance * gamma[0] - u[i * rows];
    }
    verify_body_velocity(def, p->gamma, moved); /* v + M^-1 D gamma: take the same off v */
    for (size_t k = 0; k < entries; k++)
        v[k] -= moved[k] - v[k];
    free(u);
    free(moved);
}

/* ---- explicit problems ---- */

/* N += B'B with B of `rows` rows over a few blocks, then a little on the diagonal. */
static void fill_matrix(TalusRng *rng, int blocks, int rows, double *matrix)
{
    int n = blocks * rows, block[3];
    for (int i = 0; i < blocks; i++) {
        block[0] = i;
        block[1] = (int)talus_rng_below(rng, (uint64_t)blocks);
        block[2] = (i + 1) % blocks;
        for (int r = 0; r < rows; r++) {
            double b[9];
            for (int k = 0; k < 3 * rows; k++)
                b[k] = between(rng, -1.0, 1.0);
            for (int k = 0; k < 9 * rows * rows; k++) {
                int row = k / (3 * rows), column = k % (3 * rows);
                int at = block[row / rows] * rows + row % rows;
                int to = block[column / rows] * rows + column % rows;
                matrix[(size_t)at * (size_t)n + (size_t)to] += b[row] * b[column];
            }
        }
    }
    for (int k = 0; k < n; k++)
        matrix[(size_t)k * (size_t)n + (size_t)k] += 0.3;
}

static void compress(TestProblem *p, const double *matrix, int n)
{
    size_t entries = 0, all = (size_t)n * (size_t)n;
    for (size_t k = 0; k < all; k++)
        entries += matrix[k] != 0.0;
    int32_t *start = test_memory(p, (size_t)n + 1, sizeof *start);
    int32_t *column = test_memory(p, entries, sizeof *column);
    double *values = test_memory(p, entries, sizeof *values);
    int32_t e = 0;
    for (size_t k = 0; k < all; k++) {
        if (matrix[k] != 0.0) {
            column[e] = (int32_t)(k % (size_t)n);
            values[e++] = matrix[k];
        }
        if ((k + 1) % (size_t)n == 0)
            start[(k + 1) / (size_t)n] = e;
    }
    p->def.row_start = start;
    p->def.column = column;
    p->def.values = values;
}

static TestProblem explicit_from(const double *matrix, int blocks, int rows)
{
    TestProblem p = {.name = "explicit", .def = {.block_count = blocks, .rows = rows}};
    compress(&p, matrix, blocks * rows);
    p.def.offset = test_memory(&p, (size_t)(blocks * rows), sizeof(double));
    p.def.mu = test_memory(&p, (size_t)blocks, sizeof(double));
    return p;
}

TestProblem make_explicit(uint64_t seed, int blocks, int rows)
{
    TalusRng rng = talus_rng_from_seed(seed);
    size_t n = (size_t)(blocks * rows);
    double *matrix = calloc(n * n + 1, sizeof *matrix);
    fill_matrix(&rng, blocks, rows, matrix);
    TestProblem p = explicit_from(matrix, blocks, rows);
    double *q = (double *)p.def.offset, *mu = (double *)p.def.mu;
    p.gamma = test_memory(&p, n, sizeof(double));
    p.gradient = test_memory(&p, n, sizeof(double));
    for (int i = 0; i < blocks; i++) {
        mu[i] = i % 7 == 3 ? 0.0 : between(&rng, 0.1, 1.0);
        double *gamma = p.gamma + i * rows, *g = p.gradient + i * rows;
        for (int k = 0; k < rows; k++)
            g[k] = gamma[k] = between(&rng, -1.0, 1.0);
        verify_cone_project(rows, mu[i], gamma);
        for (int k = 0; k < rows; k++)
            g[k] = gamma[k] - g[k];
    }
    verify_product(&p.def, p.gamma, q);
    for (size_t k = 0; k < n; k++)
        q[k] = p.gradient[k] - q[k];
    free(matrix);
    p.splitting = true;
    return p;
}

TestProblem make_dense_copy(const TalusProblemDef *def)
{
    int rows = verify_rows(def), blocks = verify_blocks(def);
    size_t n = (size_t)verify_size(def);
    double *matrix = calloc(n * n + 1, sizeof *matrix);
    verify_matrix(def, matrix);
    TestProblem p = explicit_from(matrix, blocks, rows);
    verify_velocity(def, NULL, (double *)p.def.offset);
    for (int i = 0; i < blocks; i++)
        ((double *)p.def.mu)[i] = verify_mu(def, i);
    free(matrix);
    return p;
}

/* ---- particular shapes ---- */

TestProblem make_wedge(double mu, int spheres)
{
    TestProblem p = {.name = "wedge"};
    Maker m = begin(&p, 1, spheres, spheres + 2);
    const TalusVec3 x = {1.0, 0.0, 0.0};
    for (int i = 0; i < spheres; i++)
        set_sphere(&m, i, talus_vec3(2.0 * i, 0.0, 0.0), 1.0, 1.0);
    for (int i = 0; i + 1 < spheres; i++)
        add_contact(&m, i, i + 1, x, 1.0, 1.0)->bias = -0.1;
    add_contact(&m, 0, -1, talus_neg(x), 1.0, 0.0)->bias = -0.1;
    add_contact(&m, spheres - 1, -1, x, 1.0, 0.0)->bias = -0.1;
    add_gravity(&m, 0.05, 0.01);
    for (int i = 0; i < m.count; i++)
        m.contacts[i].mu = mu;
    finish(&p, &m);
    return p;
}

static void append(Maker *m, const TalusProblemDef *def, int at)
{
    size_t n = (size_t)def->body_count;
    memcpy(m->inv_mass + at, def->inv_mass, n * sizeof *m->inv_mass);
    memcpy(m->radius + at, def->radius, n * sizeof *m->radius);
    memcpy(m->inv_inertia + at, def->inv_inertia, n * sizeof *m->inv_inertia);
    memcpy(m->free_velocity + 6 * at, def->free_velocity, 6 * n * sizeof *m->free_velocity);
    for (int i = 0; i < def->contact_count; i++) {
        TalusContactDef *c = &m->contacts[m->count++];
        *c = def->contacts[i];
        c->a += at;
        c->b += c->b >= 0 ? at : 0;
    }
}

TestProblem make_union(const TalusProblemDef *a, const TalusProblemDef *b)
{
    TestProblem p = {.name = "union"};
    Maker m = begin(&p, 4, a->body_count + b->body_count, a->contact_count + b->contact_count);
    append(&m, a, 0);
    append(&m, b, a->body_count);
    finish(&p, &m);
    return p;
}

TestProblem make_column(int count, double ratio, double mu)
{
    TestProblem p = {.name = "column"};
    Maker m = begin(&p, 2, count, count);
    const TalusVec3 up = {0.0, 0.0, 1.0};
    for (int i = 0; i < count; i++)
        set_sphere(&m, i, talus_vec3(0.0, 0.0, 2.0 * i + 1.0), 1.0, i + 1 == count ? ratio : 1.0);
    for (int i = 0; i + 1 < count; i++)
        add_contact(&m, i, i + 1, up, 1.0, 1.0);
    add_contact(&m, 0, -1, talus_neg(up), 1.0, 0.0);
    add_gravity(&m, 0.05, 0.001);
    for (int i = 0; i < m.count; i++)
        m.contacts[i].mu = mu;
    finish(&p, &m);
    return p;
}

/* Points of a Fibonacci lattice on the lower hemisphere. */
static TalusVec3 bowl_direction(int i, int count)
{
    double z = -(i + 0.5) / count, r = sqrt(1.0 - z * z), angle = 2.399963229728653 * i;
    return talus_vec3(r * cos(angle), r * sin(angle), z);
}

TestProblem make_bowl(int count, double mu, double compliance)
{
    TestProblem p = {.name = "bowl"};
    Maker m = begin(&p, 3, count + 1, 2 * count);
    double small = 1.0 / sqrt(count);
    set_sphere(&m, 0, talus_vec3(0.0, 0.0, 0.0), 1.0, 1000.0);
    for (int i = 0; i < count; i++) {
        TalusVec3 n = unit(bowl_direction(i, count));
        set_sphere(&m, i + 1, talus_scale(1.0 + small, n), small, 1.0);
        add_contact(&m, 0, i + 1, n, 1.0, small);
    }
    for (int i = 0; i < count; i++)
        add_contact(&m, i + 1, -1, unit(bowl_direction(i, count)), small, 0.0);
    add_gravity(&m, 0.05, 0.002);
    for (int i = 0; i < m.count; i++) {
        m.contacts[i].mu = mu;
        m.contacts[i].compliance = compliance;
    }
    finish(&p, &m);
    return p;
}

/* ---- ten with a known optimum ---- */

static TestProblem planted(const char *name, HeapOptions options, bool splitting)
{
    TestProblem p = make_heap(&options);
    plant_optimum(&p, options.seed + 1000);
    p.name = name;
    p.splitting = splitting;
    return p;
}

static TestProblem named(const char *name, TestProblem p)
{
    p.name = name;
    return p;
}

void make_known(TestProblem out[KNOWN_PROBLEMS])
{
    int n = 0;
    out[n++] = named("one explicit block", make_explicit(1, 1, 3));
    out[n++] = named("17 explicit blocks", make_explicit(2, 17, 3));
    out[n++] = named("80 explicit blocks", make_explicit(3, 80, 3));
    out[n++] = named("61 explicit rows", make_explicit(4, 61, 1));
    out[n++] = planted("frictionless spheres", (HeapOptions){5, 3, 3, 3, 0.0, 0.0, 0.0}, true);
    out[n++] = planted("spheres", (HeapOptions){6, 3, 2, 2, 0.3, 0.0, 0.0}, true);
    out[n++] = planted("compliant spheres", (HeapOptions){7, 4, 3, 3, 0.5, 0.05, 0.0}, true);
    out[n++] = planted("mixed bodies", (HeapOptions){8, 2, 2, 2, 0.4, 0.0, 0.5}, true);
    out[n++] = planted("frictionless mixed", (HeapOptions){9, 3, 3, 2, 0.0, 0.02, 0.5}, true);
    out[n++] = planted("compliant mixed", (HeapOptions){10, 3, 3, 2, 0.6, 0.05, 0.6}, true);
}

/* ---- ten from worlds ---- */

typedef struct Recipe {
    const char *name;
    int count;
    double mu, stiffness; /* N/m; 0: rigid */
    double spread;        /* of radii: r in [1 - spread, 1] times 0.1 m */
    bool splitting;
    int steps;
    void (*fill)(TalusWorld *world, const struct Recipe *recipe);
} Recipe;

static void add_bodies(TalusWorld *world, TalusShapeDef shape, TalusBodyBatch batch, int count)
{
    CHECK_OK(talus_world_add_shape(world, &shape, &batch.shape));
    batch.count = count;
    batch.material = 1; /* the recipe's */
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
}

static void add_plane(TalusWorld *world, TalusVec3 x, TalusQuat e)
{
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusBodyBatch batch = talus_body_batch_default();
    batch.fixed = true;
    batch.position = &x;
    batch.orientation = &e;
    add_bodies(world, plane, batch, 1);
}

static void add_floor(TalusWorld *world)
{
    add_plane(world, talus_vec3(0.0, 0.0, 0.0), talus_quat_identity());
}

/* A box without lid, [0, width]^2. */
static void add_box(TalusWorld *world, double width)
{
    const double s = sqrt(0.5);
    add_floor(world);
    add_plane(world, talus_vec3(0.0, 0.0, 0.0), (TalusQuat){s, 0.0, s, 0.0});
    add_plane(world, talus_vec3(width, 0.0, 0.0), (TalusQuat){s, 0.0, -s, 0.0});
    add_plane(world, talus_vec3(0.0, 0.0, 0.0), (TalusQuat){s, -s, 0.0, 0.0});
    add_plane(world, talus_vec3(0.0, width, 0.0), (TalusQuat){s, s, 0.0, 0.0});
}

/* Layers of 4 x 4 spheres, shifted by half a cell from layer to layer so that they interlock. */
static void add_spheres(TalusWorld *world, const Recipe *r)
{
    TalusShapeDef sphere = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 x[128];
    double radius[128];
    TalusRng rng = talus_rng_from_seed((uint64_t)r->count);
    for (int i = 0; i < r->count; i++) {
        double shift = i / 16 % 2 ? 0.05 : 0.0;
        x[i] = talus_vec3(0.105 + 0.21 * (i % 4) + shift, 0.105 + 0.21 * (i / 4 % 4) + shift,
                          0.11 + 0.19 * (i / 16));
        x[i] = talus_add(x[i], random_vector(&rng, 0.004));
        radius[i] = 0.1 * (1.0 - r->spread * talus_rng_uniform(&rng));
    }
    batch.position = x;
    batch.radius = radius;
    add_bodies(world, sphere, batch, r->count);
}

static void fill_bed(TalusWorld *world, const Recipe *r)
{
    add_box(world, 0.9);
    add_spheres(world, r);
}

static void fill_stack(TalusWorld *world, const Recipe *r)
{
    TalusShapeDef brick = {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.12, 0.08}};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 x[16];
    add_floor(world);
    for (int i = 0; i < r->count; i++)
        x[i] = talus_vec3(0.01 * (i % 3), 0.013 * (i % 2), 0.0799 + 0.1599 * i);
    batch.position = x;
    add_bodies(world, brick, batch, r->count);
}

/* Bricks among the spheres. */
static void fill_pile(TalusWorld *world, const Recipe *r)
{
    TalusShapeDef brick = {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.12, 0.08}};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 x[4], spin[4];
    fill_bed(world, r);
    for (int i = 0; i < 4; i++) {
        x[i] = talus_vec3(0.22 + 0.4 * (i % 2), 0.24 + 0.4 * (i / 2), 0.3 + 0.19 * (r->count / 16));
        spin[i] = talus_vec3(0.3 * i, 0.5, -0.2 * i);
    }
    batch.position = x;
    batch.spin = spin;
    add_bodies(world, brick, batch, 4);
}

/* A ball a hundred times heavier than those it lies on. */
static void fill_ram(TalusWorld *world, const Recipe *r)
{
    TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.3};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 x = {0.43, 0.46, 0.42 + 0.19 * (r->count / 16)};
    fill_bed(world, r);
    batch.position = &x;
    batch.mass = 400.0;
    add_bodies(world, ball, batch, 1);
}

static void fill_vat(TalusWorld *world, const Recipe *r)
{
    static const double profile[] = {0.0, 0.0, 0.45, 0.0, 0.65, 0.5, 0.65, 1.5};
    TalusShapeDef vat = {.kind = TALUS_SHAPE_REVOLVE, .profile = profile, .point_count = 4};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 centre = {0.42, 0.42, 0.0};
    batch.fixed = true;
    batch.position = &centre;
    add_bodies(world, vat, batch, 1);
    add_spheres(world, r);
}

static TestProblem extract(const Recipe *r)
{
    TalusWorldDef def = talus_world_def_relaxed(); /* problems that every solver takes */
    TalusMaterialDef material = talus_material_def_default();
    TestProblem p = {.name = r->name};
    TalusWorld *world = NULL;
    TalusProblem *problem = NULL;
    TalusProblemDef data;
    def.threads = 1;
    def.solver =
        "gs"; /* the plainest: a change of another solver leaves these problems as they are */
    material.stiffness = r->stiffness;
    material.friction = r->mu;
    if (!CHECK_OK(talus_world_create(&def, &world)))
        return p;
    CHECK_OK(talus_world_add_material(world, &material, NULL));
    r->fill(world, r);
    for (int i = 0; i < r->steps; i++)
        CHECK_OK(talus_world_step(world, NULL));
    if (CHECK_OK(talus_world_build(world, &problem)) &&
        CHECK_OK(talus_problem_export(problem, &data)))
        p = copy_test_problem(&data, r->name);
    p.splitting = r->splitting;
    talus_world_destroy(world);
    return p;
}

void make_extracted(TestProblem out[EXTRACTED_PROBLEMS])
{
    /* After 81 steps spg and anderson reach 1e-12 on both rigid beds of 48; other states stall them. */
    static const Recipe recipes[EXTRACTED_PROBLEMS] = {
        {"bed of 24", 24, 0.3, 0.0, 0.1, true, 80, fill_bed},
        {"bed of 48", 48, 0.3, 0.0, 0.0, false, 81, fill_bed},
        {"frictionless bed", 64, 0.0, 0.0, 0.2, false, 80, fill_bed},
        {"compliant bed", 80, 0.3, 4e6, 0.1, true, 80, fill_bed},
        {"rough bed", 48, 0.8, 0.0, 0.3, false, 81, fill_bed},
        {"stack", 4, 0.4, 0.0, 0.0, false, 0, fill_stack},
        {"compliant stack", 6, 0.5, 4e6, 0.0, true, 0, fill_stack},
        {"compliant pile", 32, 0.3, 4e6, 0.2, true, 80, fill_pile},
        {"compliant ram", 48, 0.3, 8e6, 0.1, true, 80, fill_ram},
        {"vat", 32, 0.3, 8e6, 0.2, true, 80, fill_vat},
    };
    for (int i = 0; i < EXTRACTED_PROBLEMS; i++)
        out[i] = extract(&recipes[i]);
}
