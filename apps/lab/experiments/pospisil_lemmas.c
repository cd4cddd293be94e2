/* lab/experiments/pospisil_lemmas.c - Lemmas 2 and 4 of pospisil-2015 on small random problems without friction.
 *
 * Lemma 2, for N = D' M^-1 D: Ker N = Ker D and Im N = Im D'. Here N is the operator of the library, D is written from
 * the contacts, and each kernel and image comes from a basis of its own. In every second problem contacts act along
 * lines through the centres of their bodies, as those of spheres do, and turn none.
 *
 * Lemma 4: the velocity v_f + M^-1 D gamma is the same for all solutions gamma. Here two methods solve each problem, the
 * second from random impulses. The gaps are in the image of D', so that there is a solution (Lemma 3 assumes that; see
 * docs/papers/errata.md). There are more contacts than degrees of freedom, and most bodies are clamped between theirs, so
 * that impulses are not unique.
 *
 * All problems are the same on each call: the generator starts from fixed seeds. */
#include "pospisil_lemmas.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"

#include <math.h>

enum {
    PROBLEMS = 12,
    BODIES = 4,
    FREEDOMS = 6 * BODIES,
    CONTACTS = 60,
    PROBES = 20, /* random vectors that are tried for a kernel */
    MAX_ITERATIONS = 200000
};

/* A share below which a length counts as 0: far above rounding, far below all that differs. */
static const double nothing = 1e-9;

typedef struct LemmaProblem {
    TalusRng rng;
    bool central; /* contacts turn no body */
    double inv_mass[BODIES], free_velocity[FREEDOMS];
    TalusSym3 inv_inertia[BODIES];
    TalusContactDef contact[CONTACTS];
    double d[CONTACTS][FREEDOMS]; /* D', a row for each contact */
    double n[CONTACTS][CONTACTS]; /* N */
    TalusProblem *problem;
} LemmaProblem;

/* An orthonormal basis of the space that the rows of a matrix span. */
typedef struct Basis {
    int count;
    double vector[CONTACTS][CONTACTS];
} Basis;

/* What was found on one problem. */
typedef struct LemmaResult {
    int rank_n, rank_d;
    double kernel; /* largest |D x| for x in Ker N and |N x| for x in Ker D, relative */
    double image;  /* largest part of N outside Im D' and of D' outside Im N, relative */
    bool solved;   /* by both methods */
    double impulses,
        velocities; /* largest difference of the two solutions over the largest entry */
} LemmaResult;

/* ---- vectors ---- */

static double dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Returns the largest |a_i - b_i| over the largest |a_i|. */
static double compare(int n, const double *a, const double *b)
{
    double difference = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        difference = fmax(difference, fabs(a[i] - b[i]));
        size = fmax(size, fabs(a[i]));
    }
    return difference / size;
}

/* Subtracts from x its part in the space of the basis, twice against rounding. */
static void remove_part(const Basis *basis, double x[CONTACTS])
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < basis->count; i++) {
            const double part = dot(CONTACTS, x, basis->vector[i]);
            for (int k = 0; k < CONTACTS; k++)
                x[k] -= part * basis->vector[i][k];
        }
}

/* Adds to the basis the direction of x outside its space, unless that is nothing beside `size`. */
static void extend(Basis *basis, const double x[CONTACTS], double size)
{
    if (basis->count == CONTACTS)
        return;
    double *v = basis->vector[basis->count];
    for (int k = 0; k < CONTACTS; k++)
        v[k] = x[k];
    remove_part(basis, v);
    const double length = sqrt(dot(CONTACTS, v, v));
    if (length <= nothing * size)
        return;
    for (int k = 0; k < CONTACTS; k++)
        v[k] /= length;
    basis->count++;
}

/* Copies column j of D', the row of D of a degree of freedom. */
static void get_column(const LemmaProblem *p, int j, double x[CONTACTS])
{
    for (int k = 0; k < CONTACTS; k++)
        x[k] = p->d[k][j];
}

/* ---- problems ---- */

static double draw(TalusRng *rng, double low, double high)
{
    return low + (high - low) * talus_rng_uniform(rng);
}

static TalusVec3 draw_vector(TalusRng *rng)
{
    const double x = draw(rng, -1.0, 1.0), y = draw(rng, -1.0, 1.0), z = draw(rng, -1.0, 1.0);
    return talus_vec3(x, y, z);
}

/* Writes the entries of D' that a body at the contact has: the normal, and its moment about the body's centre. */
static void write_body(double row[FREEDOMS], int body, TalusVec3 normal, TalusVec3 arm)
{
    if (body < 0)
        return;
    const TalusVec3 moment = talus_cross(arm, normal);
    double *entry = row + (size_t)6 * (size_t)body;
    entry[0] = normal.x;
    entry[1] = normal.y;
    entry[2] = normal.z;
    entry[3] = moment.x;
    entry[4] = moment.y;
    entry[5] = moment.z;
}

/* Draws contact i, of a body with another one or, more than half of them, with the fixed world. */
static void draw_contact(LemmaProblem *p, int i)
{
    TalusRng *rng = &p->rng;
    TalusContactDef *c = &p->contact[i];
    const int body = i % BODIES, other = (int)talus_rng_below(rng, BODIES);
    TalusVec3 normal = draw_vector(rng);
    while (talus_norm(normal) < 0.1)
        normal = draw_vector(rng);
    *c = (TalusContactDef){.a = body,
                           .b = i / BODIES % 2 && other != body ? other : -1,
                           .normal = talus_scale(1.0 / talus_norm(normal), normal)};
    if (!p->central)
        c->arm_a = draw_vector(rng);
    if (!p->central && c->b >= 0)
        c->arm_b = draw_vector(rng);
    write_body(p->d[i], c->a, talus_neg(c->normal), c->arm_a);
    write_body(p->d[i], c->b, c->normal, c->arm_b);
}

/* Makes problem `seed`; the caller destroys p->problem. */
static TalusStatus make_problem(uint64_t seed, LemmaProblem *p)
{
    double gaps[FREEDOMS], unit[CONTACTS] = {0.0};
    *p = (LemmaProblem){.rng = talus_rng_from_seed(seed), .central = seed % 2 == 0};
    for (int b = 0; b < BODIES; b++) {
        p->inv_mass[b] = draw(&p->rng, 0.5, 2.0);
        p->inv_inertia[b] = (TalusSym3){.xx = draw(&p->rng, 1.0, 4.0),
                                        .yy = draw(&p->rng, 1.0, 4.0),
                                        .zz = draw(&p->rng, 1.0, 4.0)};
    }
    for (int k = 0; k < FREEDOMS; k++) {
        p->free_velocity[k] = draw(&p->rng, -1.0, 1.0);
        gaps[k] = draw(&p->rng, -1.0, 1.0);
    }
    for (int i = 0; i < CONTACTS; i++) {
        draw_contact(p, i);
        p->contact[i].bias = dot(FREEDOMS, p->d[i], gaps);
    }
    const TalusProblemDef def = {.body_count = BODIES,
                                 .inv_mass = p->inv_mass,
                                 .inv_inertia = p->inv_inertia,
                                 .free_velocity = p->free_velocity,
                                 .contact_count = CONTACTS,
                                 .contacts = p->contact};
    TALUS_TRY(talus_problem_create(&def, NULL, &p->problem));
    for (int i = 0; i < CONTACTS; i++) {
        unit[i] = 1.0;
        talus_problem_apply(p->problem, unit, p->n[i]); /* N is symmetric */
        unit[i] = 0.0;
    }
    return TALUS_OK;
}

/* ---- Lemma 2 ---- */

/* Returns the length of D x. */
static double measure_d(const LemmaProblem *p, const double x[CONTACTS])
{
    double sum2 = 0.0, column[CONTACTS];
    for (int j = 0; j < FREEDOMS; j++) {
        get_column(p, j, column);
        const double entry = dot(CONTACTS, column, x);
        sum2 += entry * entry;
    }
    return sqrt(sum2);
}

/* Returns the length of N x. */
static double measure_n(const LemmaProblem *p, const double x[CONTACTS])
{
    double sum2 = 0.0;
    for (int i = 0; i < CONTACTS; i++) {
        const double entry = dot(CONTACTS, p->n[i], x);
        sum2 += entry * entry;
    }
    return sqrt(sum2);
}

/* Returns the length of the part of x outside the space of the basis, over that of x; 0 if x is 0. */
static double measure_outside(const Basis *basis, const double x[CONTACTS])
{
    double rest[CONTACTS];
    if (dot(CONTACTS, x, x) == 0.0)
        return 0.0;
    for (int k = 0; k < CONTACTS; k++)
        rest[k] = x[k];
    remove_part(basis, rest);
    return sqrt(dot(CONTACTS, rest, rest) / dot(CONTACTS, x, x));
}

/* Compares kernels and images of N and D. The kernel of a matrix is orthogonal to the space of its rows, so that a random
 * vector without its part in that space is in the kernel. */
static void check_kernels(LemmaProblem *p, LemmaResult *out)
{
    static Basis image_n, image_d;
    double column[CONTACTS], x[2][CONTACTS], length[2];
    image_n.count = image_d.count = 0;
    for (int i = 0; i < CONTACTS; i++)
        extend(&image_n, p->n[i], sqrt(dot(CONTACTS, p->n[i], p->n[i])));
    for (int j = 0; j < FREEDOMS; j++) {
        get_column(p, j, column);
        extend(&image_d, column, sqrt(dot(CONTACTS, column, column)));
    }
    out->rank_n = image_n.count;
    out->rank_d = image_d.count;
    for (int i = 0; i < CONTACTS; i++)
        out->image = fmax(out->image, measure_outside(&image_d, p->n[i]));
    for (int j = 0; j < FREEDOMS; j++) {
        get_column(p, j, column);
        out->image = fmax(out->image, measure_outside(&image_n, column));
    }
    for (int probe = 0; probe < PROBES; probe++) {
        for (int k = 0; k < CONTACTS; k++)
            x[0][k] = x[1][k] = draw(&p->rng, -1.0, 1.0);
        const double d = measure_d(p, x[0]), n = measure_n(p, x[0]);
        remove_part(&image_n, x[0]);
        remove_part(&image_d, x[1]);
        length[0] = measure_d(p, x[0]) / d;
        length[1] = measure_n(p, x[1]) / n;
        out->kernel = fmax(out->kernel, fmax(length[0], length[1]));
    }
}

/* ---- Lemma 4 ---- */

/* Solves the problem from the impulses in it; writes its solution and the velocities of the bodies. */
static TalusStatus solve(LemmaProblem *p, const char *spec, double impulses[CONTACTS],
                         double velocities[FREEDOMS], bool *solved)
{
    TalusSolver *solver;
    TalusSolveInfo info;
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = 1e-11;
    options.max_iterations = MAX_ITERATIONS;
    TALUS_TRY(talus_solver_create(spec, &solver));
    TalusStatus status = talus_solver_solve(solver, p->problem, &options, &info);
    talus_solver_destroy(solver);
    TALUS_TRY(status);
    const double *gamma = talus_problem_gamma(p->problem);
    for (int i = 0; i < CONTACTS; i++)
        impulses[i] = gamma[i];
    *solved = info.outcome == TALUS_OUTCOME_CONVERGED;
    return talus_problem_body_velocity(p->problem, gamma, velocities);
}

/* Solves the problem by `solver` from zero impulses and by apgd from random ones. */
static TalusStatus check_velocity(LemmaProblem *p, const char *solver, LemmaResult *out)
{
    double impulses[2][CONTACTS], velocities[2][FREEDOMS];
    bool solved[2];
    TALUS_TRY(solve(p, solver, impulses[0], velocities[0], &solved[0]));
    double *gamma = talus_problem_gamma(p->problem);
    for (int i = 0; i < CONTACTS; i++)
        gamma[i] = draw(&p->rng, 0.0, 10.0);
    TALUS_TRY(solve(p, "apgd", impulses[1], velocities[1], &solved[1]));
    out->solved = solved[0] && solved[1];
    out->impulses = compare(CONTACTS, impulses[0], impulses[1]);
    out->velocities = compare(FREEDOMS, velocities[0], velocities[1]);
    return TALUS_OK;
}

/* ---- the whole ---- */

static TalusStatus check_problem(uint64_t seed, const char *solver, LemmaResult *out)
{
    static LemmaProblem p;
    *out = (LemmaResult){0};
    TalusStatus status = make_problem(seed, &p);
    if (status == TALUS_OK) {
        check_kernels(&p, out);
        status = check_velocity(&p, solver, out);
    }
    talus_problem_destroy(p.problem);
    return status;
}

static void add_row(LabTable *t, int problem, const LemmaResult *r)
{
    lab_table_add_cells(t, "%d\t%d\t%d\t%.0e\t%.0e\t%.2g\t%.0e", problem, r->rank_n, r->rank_d,
                        r->kernel, r->image, r->solved ? r->impulses : NAN,
                        r->solved ? r->velocities : NAN);
}

static void add_verdicts(LabSet *set, const LemmaResult result[PROBLEMS])
{
    static const double same = 1e-6, apart = 1e-2;
    int equal = 0, solved = 0, unique = 0, several = 0;
    double kernel = 0.0, velocities = 0.0, impulses = 0.0;
    for (int k = 0; k < PROBLEMS; k++) {
        const LemmaResult *r = &result[k];
        equal += r->rank_n == r->rank_d && fmax(r->kernel, r->image) <= nothing;
        kernel = fmax(kernel, fmax(r->kernel, r->image));
        solved += r->solved;
        unique += r->solved && r->velocities <= same;
        several += r->solved && r->impulses >= apart;
        velocities = fmax(velocities, r->velocities);
        impulses = fmax(impulses, r->impulses);
    }
    claims_add(set,
               &(Claim){.statement = "N and D have the same kernel, N and D' the same image (Lemma "
                                     "2)",
                        .rule = "random problems: equal ranks, and each kernel and image lies in "
                                "the other up to 1e-9"},
               claim_if(equal == PROBLEMS), "in %d of %d problems of %d contacts, up to %.0e",
               equal, PROBLEMS, CONTACTS, kernel);
    claims_add(
        set,
        &(Claim){.statement = "the velocity does not depend on the choice of the solution "
                              "(Lemma 4)",
                 .rule = "random problems that have a solution, by two methods from two "
                         "starts: velocities agree to 1e-6 in all, though impulses differ "
                         "by 1e-2 in half of them"},
        solved < PROBLEMS || 2 * several < PROBLEMS ? CLAIM_UNJUDGED : claim_if(unique == PROBLEMS),
        "in %d of %d problems, up to %.0e; impulses differ in %d, by up to %.2g times the largest",
        unique, PROBLEMS, velocities, several, impulses);
}

TalusStatus pospisil_add_lemmas(LabSet *set, const char *solver)
{
    LemmaResult result[PROBLEMS];
    LabTable *t = lab_set_add_table(set, "Lemmas 2 and 4 on random problems",
                                    "problem\trank of N\trank of D\tkernels\timages\t"
                                    "difference of impulses\tof velocities");
    for (int k = 0; k < PROBLEMS; k++) {
        TALUS_TRY(check_problem((uint64_t)k + 1, solver, &result[k]));
        add_row(t, k + 1, &result[k]);
    }
    snprintf(
        t->note, sizeof t->note,
        "%d bodies, %d contacts, which act through the centres in every second problem; gaps in "
        "the image of D'. Kernels: the largest |D x| for x in "
        "the kernel of N and |N x| for x in that of D, over those of random x. Images: the "
        "largest part of N outside the image of D', and the reverse. Differences of the "
        "solutions by the paper's parameters from zero and by apgd from random impulses, over "
        "the largest entry.",
        BODIES, CONTACTS);
    add_verdicts(set, result);
    return TALUS_OK;
}
