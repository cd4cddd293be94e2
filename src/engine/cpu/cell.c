/* engine/cpu/cell.c - a periodic cell that deforms (collide/cell.h): velocities relative to its flow, its stress and work,
 * and bodies that cross its sides.
 *
 * Contacts do work on bodies at the velocities of these, D'v; what they dissipate is at u = D'v + G s (ledger.c). The
 * difference, - gamma' G s, is work of the cell. */
#include "engine/cpu/engine.h"

/* ---- cell and flow ---- */

void cpu_put_cell(TalusEngine *engine, const TalusCell *cell)
{
    CpuEngine *e = cpu_engine(engine);
    e->cell = *cell;
    e->period = cell->period;
    e->has_cell = true;
    e->cell_moves = !talus_gradient_is_zero(&cell->now) || !talus_gradient_is_zero(&cell->last);
}

/* Velocities to be taken relative to the flow. */
typedef struct FlowContext {
    CpuEngine *engine;
    const TalusVec3 *velocity;
} FlowContext;

static void subtract_flow(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const FlowContext *c = context;
    CpuEngine *e = c->engine;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        e->relative_velocity[i] =
            e->bodies.shape[i] < 0
                ? c->velocity[i]
                : talus_sub(c->velocity[i],
                            talus_flow_at(&e->cell.now, e->cell.centre, e->bodies.position[i]));
}

TalusStatus cpu_relative_velocities(CpuEngine *e, const TalusVec3 *velocity,
                                    const TalusVec3 **relative)
{
    FlowContext c = {e, velocity};
    *relative = velocity;
    if (!e->cell_moves)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(e->relative_velocity, (size_t)e->bodies.slots, 0, "relative velocities"));
    talus_parallel(e->pool, e->bodies.slots, CPU_GRAIN, subtract_flow, &c);
    *relative = e->relative_velocity;
    return TALUS_OK;
}

/* ---- stress and work ---- */

/* Partials of the contacts of a group: the virial, the stiffness, the work. */
enum {
    VIRIAL_XX,
    VIRIAL_YY,
    VIRIAL_ZZ,
    VIRIAL_XY,
    VIRIAL_XZ,
    VIRIAL_YZ,
    STIFFNESS_X,
    STIFFNESS_Y,
    STIFFNESS_Z,
    CELL_WORK,
    CELL_SUMS
};
_Static_assert((int)CELL_SUMS <= (int)CPU_PARTIALS, "partials of contacts");

/* Adds the stiffness of contact i against stretching of the axes; d: normal times branch, by component. */
static void add_stiffness(const CpuEngine *e, int64_t i, TalusVec3 d, double *sum)
{
    const TalusOperator *op = talus_problem_operator(e->problem);
    const double h = e->build_options.h;
    if (!op->compliance || !(op->compliance[i] > 0.0))
        return;
    double k = 1.0 / (h * h * op->compliance[i]);
    sum[STIFFNESS_X] += k * d.x * d.x;
    sum[STIFFNESS_Y] += k * d.y * d.y;
    sum[STIFFNESS_Z] += k * d.z * d.z;
}

static void sum_contacts(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    CpuEngine *e = context;
    const TalusVec3 *x = e->bodies.position;
    double sum[CELL_SUMS] = {0.0};
    for (int64_t i = begin; i < end; i++) {
        const TalusContact *c = &e->contacts->contact[i];
        TalusVec3 p = e->contacts->impulse[i], k;
        if (p.x == 0.0 && p.y == 0.0 && p.z == 0.0)
            continue;
        TalusVec3 d = talus_nearest_image(&e->period, talus_sub(x[c->b], x[c->a]), &k);
        sum[VIRIAL_XX] += p.x * d.x;
        sum[VIRIAL_YY] += p.y * d.y;
        sum[VIRIAL_ZZ] += p.z * d.z;
        sum[VIRIAL_XY] += 0.5 * (p.x * d.y + p.y * d.x);
        sum[VIRIAL_XZ] += 0.5 * (p.x * d.z + p.z * d.x);
        sum[VIRIAL_YZ] += 0.5 * (p.y * d.z + p.z * d.y);
        add_stiffness(e, i, talus_vec3(c->normal.x * d.x, c->normal.y * d.y, c->normal.z * d.z),
                      sum);
        sum[CELL_WORK] -= talus_dot(p, cpu_image_velocity(e, c));
    }
    for (int j = 0; j < CELL_SUMS; j++)
        e->partial[chunk][j] = sum[j];
}

/* Partial: work of the change of velocities at the start of the part, by which bodies move with the cell. */
static void sum_flow_change(void *context, int64_t begin, int64_t end, int64_t group)
{
    CpuEngine *e = context;
    double work = 0.0;
    for (int64_t rank = begin; rank < end; rank++) {
        int64_t i = cpu_slot_of_rank(e, rank);
        if (!cpu_is_moved_here(e, i))
            continue;
        TalusVec3 change = talus_flow_change(&e->cell, e->bodies.position[i]);
        TalusVec3 both = talus_add(e->bodies.velocity[i], e->free_velocity[i]);
        work += 0.5 * e->bodies.mass[i] * talus_dot(change, both);
    }
    e->partial[group][0] = work;
}

void cpu_add_cell_works(CpuEngine *e, TalusEngineLedger *ledger)
{
    double sum[CELL_SUMS], change;
    if (!e->has_cell)
        return;
    cpu_sum_contacts(e, sum_contacts, e, CELL_SUMS, sum);
    ledger->virial = (TalusSym3){sum[VIRIAL_XX], sum[VIRIAL_YY], sum[VIRIAL_ZZ],
                                 sum[VIRIAL_XY], sum[VIRIAL_XZ], sum[VIRIAL_YZ]};
    ledger->stiffness = talus_vec3(sum[STIFFNESS_X], sum[STIFFNESS_Y], sum[STIFFNESS_Z]);
    if (!e->cell_moves)
        return;
    cpu_sum_bodies(e, sum_flow_change, e, 1, &change);
    ledger->cell += sum[CELL_WORK] + change;
    ledger->gravity_error -= change; /* which has all work from old to free velocities */
}

/* ---- bodies that cross sides ---- */

typedef struct WrapContext {
    CpuEngine *engine;
    TalusVec3 gravity;
} WrapContext;

/* Partials of TalusCellSums. */
enum {
    LIFTED,
    KINETIC,
    MASS,
    MOMENT_XX,
    MOMENT_YY,
    MOMENT_ZZ,
    MOMENT_XY,
    MOMENT_XZ,
    MOMENT_YZ,
    WRAP_SUMS
};
_Static_assert((int)WRAP_SUMS <= (int)CPU_PARTIALS, "partials of bodies");

/* Moves a body back into the cell, with the velocity of its image there. */
static void wrap_body(const WrapContext *c, int64_t i, double *sum)
{
    const CpuEngine *e = c->engine;
    const TalusBodyArrays *b = &e->bodies;
    TalusVec3 k, x = talus_wrap_counted(&e->period, b->position[i], &k);
    if (k.x == 0.0 && k.y == 0.0 && k.z == 0.0)
        return;
    TalusVec3 change = talus_gradient_velocity(&e->cell.last, talus_period_vector(&e->period, k));
    TalusVec3 v = talus_add(b->velocity[i], change);
    sum[LIFTED] -= b->mass[i] * talus_dot(c->gravity, talus_sub(x, b->position[i]));
    sum[KINETIC] += 0.5 * b->mass[i] * talus_dot(change, talus_add(b->velocity[i], v));
    b->position[i] = x;
    b->velocity[i] = v;
}

static void wrap_bodies(void *context, int64_t begin, int64_t end, int64_t group)
{
    const WrapContext *c = context;
    CpuEngine *e = c->engine;
    const TalusBodyArrays *b = &e->bodies;
    double sum[WRAP_SUMS] = {0.0};
    for (int64_t rank = begin; rank < end; rank++) {
        int64_t i = cpu_slot_of_rank(e, rank);
        if (!cpu_is_moved_here(e, i))
            continue;
        wrap_body(c, i, sum);
        double m = b->mass[i];
        TalusVec3 v =
            talus_sub(b->velocity[i], talus_flow_at(&e->cell.last, e->cell.centre, b->position[i]));
        sum[MASS] += m;
        sum[MOMENT_XX] += m * v.x * v.x;
        sum[MOMENT_YY] += m * v.y * v.y;
        sum[MOMENT_ZZ] += m * v.z * v.z;
        sum[MOMENT_XY] += m * v.x * v.y;
        sum[MOMENT_XZ] += m * v.x * v.z;
        sum[MOMENT_YZ] += m * v.y * v.z;
    }
    for (int j = 0; j < WRAP_SUMS; j++)
        e->partial[group][j] = sum[j];
}

TalusStatus cpu_wrap_in_cell(TalusEngine *engine, TalusVec3 gravity, TalusCellSums *sums)
{
    CpuEngine *e = cpu_engine(engine);
    WrapContext c = {e, gravity};
    double sum[WRAP_SUMS];
    cpu_sum_bodies(e, wrap_bodies, &c, WRAP_SUMS, sum);
    *sums = (TalusCellSums){sum[LIFTED],
                            sum[KINETIC],
                            sum[MASS],
                            {sum[MOMENT_XX], sum[MOMENT_YY], sum[MOMENT_ZZ], sum[MOMENT_XY],
                             sum[MOMENT_XZ], sum[MOMENT_YZ]}};
    return TALUS_OK;
}
