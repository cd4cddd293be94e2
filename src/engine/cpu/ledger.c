/* engine/cpu/ledger.c - works of contacts, applied forces and driven bodies; storage of impulses in the contact list;
 * summary of overlaps.
 *
 * A step changes velocities twice, v -> v_f (gravity and loads) -> v' (contacts and joints). Without loads and joints
 * the kinetic energy changes by
 *     h g' m (v + v_f)/2  +  sum over contacts of gamma' (u' + u_f)/2,     u = D' v,
 * exactly. The second sum is split into its normal and tangential parts. The normal part consists of
 *     stabilisation = gamma_n max(0, -b_n) of overlapping rigid contacts: the work at the speed that undoes overlap; of
 *                     contacts with relative compliance the part of b_n beyond the overlap that their impulses cause,
 *     impact        = the rest. For an overlapping rigid contact that ends at u'_n = -b_n the rest is
 *                     -gamma_n (u'_n - u_f,n)/2, the loss of an inelastic impact. The elastic energy that the step stores
 *                     is added to impact.
 * b_n is the offset without restitution (recovery_offset). With restitution u'_n = -e u_n, so that impact includes the
 * returned energy. A cohesive contact has the attractive impulse c h besides gamma_n; its work has a column of its own,
 * and free velocities are those without it. Moments against spinning and rolling count as friction. The sums here are
 * over contacts, those of integrate.c over bodies. Their difference, TalusLedger.imbalance, is rounding unless operator
 * or velocities are wrong. */
#include "engine/cpu/engine.h"

#include <math.h>
#include <string.h>

typedef struct LedgerContext {
    CpuEngine *engine;
    const TalusOperator *op;
    const double *gamma;
    TalusOperator mean; /* `op` with engine->mean_motion in place of the bodies' records */
} LedgerContext;

/* Returns the context of a loop over the contacts of the solved problem. */
static LedgerContext ledger_context(CpuEngine *e)
{
    LedgerContext c = {.engine = e,
                       .op = talus_problem_operator(e->problem),
                       .gamma = talus_problem_gamma(e->problem)};
    c.mean = *c.op;
    c.mean.body = e->mean_motion;
    return c;
}

/* Returns the attractive impulse of contact i, N s; 0 in a world without cohesion. */
static double attractive_impulse(const LedgerContext *c, int64_t i)
{
    return c->engine->tables.cohesion ? cpu_attractive_impulse(c->engine, i) : 0.0;
}

/* ---- contacts ---- */

/* Returns the offset, at most 0, that undoes the overlap of rigid contact i; 0 without overlap. It is the problem's
 * offset if no law of the world has restitution, else the offset before restitution. */
static double recovery_offset(const LedgerContext *c, int64_t i)
{
    const CpuEngine *e = c->engine;
    const TalusContact *contact = &e->contacts->contact[i];
    const TalusBuildOptions *o = &e->build_options;
    if (!(contact->gap < 0.0))
        return 0.0;
    if (!e->tables.restitution)
        return c->op->bias[i] - cpu_image_closing(e, i);
    return talus_contact_bias(cpu_contact_law(e, contact), o->h, o->recovery, o->gravity,
                              contact->gap, cpu_contact_size(e, contact));
}

/* Stores the impulses of contacts begin to end, less attractive impulses, in the list. */
static void store_impulses(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const LedgerContext *c = context;
    const TalusContactList *list = c->engine->contacts;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        TalusVec3 impulse = talus_block_impulse(c->op, c->gamma, i);
        double pull = attractive_impulse(c, i);
        list->impulse[i] =
            pull > 0.0 ? talus_madd(impulse, -pull, list->contact[i].normal) : impulse;
    }
}

TalusStatus cpu_store_impulses(TalusEngine *engine)
{
    CpuEngine *e = cpu_engine(engine);
    LedgerContext c = ledger_context(e);
    talus_parallel(e->pool, e->contacts->count, CPU_GRAIN, store_impulses, &c);
    return TALUS_OK;
}

/* Adds the elastic energies of contact i, if it is elastic, to `sum`. Returns the part of the offset, at most 0, that
 * undoes overlap which is not elastic. */
static double add_elastic_energy(const LedgerContext *c, int64_t i, double *sum)
{
    const CpuEngine *e = c->engine;
    const TalusOperator *op = c->op;
    const TalusContact *contact = &e->contacts->contact[i];
    double gamma = c->gamma[op->rows * i];
    TalusHardening h = {0};
    if (e->build_options.compliance > 0.0)
        h = cpu_hardening(e, op, i);
    if (h.compliance > 0.0)
        return talus_add_relative_energy(&e->build_options, contact->gap,
                                         cpu_contact_size(e, contact), &h, gamma, sum);
    const TalusLaw *law = cpu_contact_law(e, contact);
    if (law->stiffness > 0.0)
        return talus_add_stiffness_energy(op, i, law, &e->build_options, contact->gap,
                                          cpu_image_closing(e, i), gamma, sum);
    return recovery_offset(c, i);
}

/* Partials of the overlaps, behind those of the works. */
enum { OVERLAP_SUM = TALUS_WORK_SUMS, OVERLAP_MAX, CONTACT_PARTIALS };
_Static_assert((int)CONTACT_PARTIALS <= (int)CPU_PARTIALS && (int)BLOCK_GRAIN <= UINT16_MAX,
               "partials of contacts");

/* Counts contact i, if it is loaded, in the histogram of its group, and adds its overlap to sum and maximum in
 * `partial`. */
static void count_overlap(const LedgerContext *c, int64_t i, uint16_t *count, double *partial)
{
    const TalusContact *contact = &c->engine->contacts->contact[i];
    if (!(c->gamma[c->op->rows * i] > 0.0))
        return;
    double depth = 0.0;
    if (contact->gap < 0.0)
        depth = -contact->gap / cpu_contact_size(c->engine, contact);
    count[talus_overlap_bin(depth)]++;
    partial[OVERLAP_SUM] += depth;
    partial[OVERLAP_MAX] = talus_max(depth, partial[OVERLAP_MAX]);
}

/* Adds the works of contact i at the velocity of b's image relative to b, in a cell that moves. */
static void add_image_work(const LedgerContext *c, int64_t i, double pull, double *sum)
{
    double gamma[3], u[3];
    TalusVec3 jump = cpu_image_velocity(c->engine, &c->engine->contacts->contact[i]);
    const double world[3] = {jump.x, jump.y, jump.z};
    talus_block_gamma(c->op, c->gamma, i, gamma);
    talus_frame_to_local(c->op->frame[i], world, u);
    sum[TALUS_WORK_NORMAL] += gamma[0] * u[0];
    sum[TALUS_WORK_TANGENTIAL] += gamma[1] * u[1] + gamma[2] * u[2];
    sum[TALUS_WORK_COHESION] -= pull * u[0];
}

/* Returns what contact i dissipates in the step, J (dissipation.c); the list must have the impulses of the last build. */
static double find_loss(const LedgerContext *c, int64_t i, double pull)
{
    double sum[TALUS_WORK_SUMS] = {0.0};
    (void)add_elastic_energy(c, i, sum);
    (void)talus_add_block_work(&c->mean, c->gamma, i, 0.0, pull, sum);
    if (c->engine->cell_moves)
        add_image_work(c, i, pull, sum);
    return sum[TALUS_WORK_ELASTIC_START] - sum[TALUS_WORK_ELASTIC_END] - sum[TALUS_WORK_NORMAL] -
           sum[TALUS_WORK_TANGENTIAL];
}

/* Adds works, elastic energies and overlaps of a group of contacts to the partials and the group's histogram, and
 * stores the impulses in the list. */
static void finish_contacts(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const LedgerContext *c = context;
    const TalusContactList *list = c->engine->contacts;
    uint16_t *count = c->engine->overlaps[chunk];
    double sum[CONTACT_PARTIALS] = {0.0};
    memset(count, 0, sizeof *c->engine->overlaps);
    for (int64_t i = begin; i < end; i++) {
        double recovery = add_elastic_energy(c, i, sum);
        count_overlap(c, i, count, sum);
        double pull = attractive_impulse(c, i);
        if (c->engine->bodies.dissipated)
            c->engine->loss[i] = find_loss(c, i, pull);
        list->impulse[i] = talus_add_block_work(c->op, c->gamma, i, recovery, pull, sum);
        if (c->engine->cell_moves)
            add_image_work(c, i, pull, sum);
    }
    for (int j = 0; j < CONTACT_PARTIALS; j++)
        c->engine->partial[chunk][j] = sum[j];
}

/* Joins the histograms of all groups and ranks; `sum`: of all overlaps. */
static TalusStatus summarise_overlaps(const CpuEngine *e, double sum, TalusEngineOverlap *out)
{
    int64_t count[TALUS_OVERLAP_BINS] = {0};
    double max = 0.0;
    for (int i = 0; i < e->groups.count; i++) {
        if (!cpu_counts_group(e, i))
            continue;
        for (int k = 0; k < TALUS_OVERLAP_BINS; k++)
            count[k] += e->overlaps[i][k];
        max = talus_max(e->partial[i][OVERLAP_MAX], max);
    }
    TALUS_TRY(talus_comm_add_counts(e->bodies.comm, count, TALUS_OVERLAP_BINS));
    talus_comm_find_maxima(e->bodies.comm, &max, 1);
    *out = talus_overlap_summary(count, sum, max);
    return TALUS_OK;
}

TalusStatus cpu_finish_contacts(CpuEngine *e, TalusEngineLedger *ledger)
{
    LedgerContext c = ledger_context(e);
    double sum[OVERLAP_MAX];
    if (e->bodies.dissipated)
        cpu_average_motion(e);
    cpu_sum_contacts(e, finish_contacts, &c, OVERLAP_MAX, sum);
    if (e->bodies.dissipated)
        cpu_add_losses(e);
    ledger->friction += sum[TALUS_WORK_TANGENTIAL];
    ledger->stabilisation += sum[TALUS_WORK_STABILISATION];
    ledger->elastic_start = sum[TALUS_WORK_ELASTIC_START];
    ledger->elastic = sum[TALUS_WORK_ELASTIC_END];
    ledger->impact += sum[TALUS_WORK_NORMAL] - sum[TALUS_WORK_STABILISATION] +
                      (ledger->elastic - ledger->elastic_start);
    ledger->cohesion += sum[TALUS_WORK_COHESION];
    return summarise_overlaps(e, sum[OVERLAP_SUM], &ledger->overlap);
}

/* ---- applied forces: world/force.c ---- */

typedef struct ForceContext {
    CpuEngine *engine;
    const double (*free)[8]; /* the problem's records, with free velocities */
    const double *length;
    double h;
} ForceContext;

/* Partials: work of torques at the mean of old and free spin (integrate.c sums the same work of forces and gravity);
 * work of forces and torques along the motion, at solved velocities. */
static void sum_force_works(void *context, int64_t begin, int64_t end, int64_t group)
{
    const ForceContext *c = context;
    CpuEngine *e = c->engine;
    double torque_work = 0.0, applied = 0.0;
    for (int64_t rank = begin; rank < end; rank++) {
        int64_t i = cpu_slot_of_rank(e, rank);
        if (!cpu_is_moved_here(e, i) || !cpu_has_force(e, i))
            continue;
        const double *f = c->free[i], *v = e->solved[i];
        double per_length = 1.0 / c->length[i];
        TalusVec3 both = talus_madd(e->bodies.spin[i], per_length, talus_vec3(f[4], f[5], f[6]));
        torque_work += 0.5 * c->h * talus_dot(e->torque[i], both);
        applied += c->h * talus_dot(e->force[i], talus_vec3(v[0], v[1], v[2])) +
                   c->h * per_length * talus_dot(e->torque[i], talus_vec3(v[4], v[5], v[6]));
    }
    e->partial[group][0] = torque_work;
    e->partial[group][1] = applied;
}

void cpu_add_force_works(CpuEngine *e, double h, TalusEngineLedger *ledger)
{
    ForceContext c = {.engine = e,
                      .free = (const double(*)[8])talus_problem_operator(e->problem)->body,
                      .length = talus_problem_lengths(e->problem),
                      .h = h};
    double sum[2];
    if (!talus_comm_any(e->bodies.comm, e->forces > 0))
        return;
    cpu_sum_bodies(e, sum_force_works, &c, 2, sum);
    ledger->applied += sum[1];
    ledger->gravity_error += sum[0] - sum[1];
}

/* ---- driven bodies: world/drive.c ---- */

/* Returns talus_side_work of contact i if the body of that side is driven, else 0. */
static double driven_side_work(const LedgerContext *c, int64_t i, int side, TalusVec3 impulse,
                               TalusVec3 moment)
{
    int body = c->op->pair[i][side];
    if (body < 0 || c->engine->bodies.mobility[body] != TALUS_MOBILITY_DRIVEN)
        return 0.0;
    return talus_side_work(c->op, i, side, impulse, moment);
}

/* Returns the work that the driven body of contact i does on the other one; 0 if none is driven. */
static double driven_work(const LedgerContext *c, int64_t i)
{
    const TalusOperator *op = c->op;
    TalusVec3 impulse = talus_block_impulse(op, c->gamma, i), moment = {0.0, 0.0, 0.0};
    if (c->engine->tables.cohesion)
        impulse = talus_madd(impulse, -cpu_attractive_impulse(c->engine, i),
                             c->engine->contacts->contact[i].normal);
    if (op->rows == 6) {
        double m[3];
        talus_frame_to_world(op->frame[i], c->gamma + 6 * i + 3, m);
        moment = talus_vec3(m[0], m[1], m[2]);
    }
    return driven_side_work(c, i, 0, impulse, moment) - driven_side_work(c, i, 1, impulse, moment);
}

/* Partial: work that driven bodies do at the contacts of a group. Contacts of driven bodies are in the general run, and
 * all contacts of a group are in one run. */
static void sum_driven_works(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const LedgerContext *c = context;
    bool general = begin >= c->op->sphere_sphere + c->op->sphere_fixed;
    double sum = 0.0;
    for (int64_t i = begin; general && i < end; i++)
        sum += driven_work(c, i);
    c->engine->partial[chunk][0] = sum;
}

void cpu_add_driven_works(CpuEngine *e, TalusEngineLedger *ledger)
{
    LedgerContext c = ledger_context(e);
    double sum;
    if (!e->bodies.driven)
        return;
    cpu_sum_contacts(e, sum_driven_works, &c, 1, &sum);
    ledger->driven += sum;
}
