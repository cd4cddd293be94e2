/* world/bodies.c - adding and removing bodies.
 *
 * A batch is checked as a whole before anything changes, so a call that fails leaves the world unchanged. New bodies
 * take dead slots in increasing order, then slots behind the last. The slot of a body depends on the sequence of
 * additions and removals alone. */
#include "world/bodies.h"
#include "backend/host.h"
#include "engine/body.h"
#include "world/cell.h"
#include "world/ids.h"
#include "world/state.h"
#include "world/step/wake.h"

#include "collide/period.h"

#include <inttypes.h>
#include <string.h>

enum { BATCH_COOKIE = 0x7a10ba7c };

#define FIELD(name) #name, offsetof(TalusBodies, name), sizeof *((TalusBodies *)0)->name
const TalusBodyField talus_body_fields[TALUS_BODY_FIELDS] = {
    {FIELD(position)}, {FIELD(velocity)}, {FIELD(spin)},  {FIELD(orientation)}, {FIELD(mass)},
    {FIELD(radius)},   {FIELD(size)},     {FIELD(shape)}, {FIELD(material)},    {FIELD(tag)},
    {FIELD(id)},       {FIELD(mobility)}, {FIELD(group)}, {FIELD(dissipated)},
};

void *talus_body_array(const TalusBodies *bodies, int field)
{
    void *array;
    memcpy(&array, (const char *)bodies + talus_body_fields[field].offset, sizeof array);
    return array;
}

TalusStatus talus_bodies_reserve(TalusBodies *bodies, size_t slots)
{
    return talus_bodies_reserve_keeping(bodies, slots, (size_t)bodies->counts.slots);
}

TalusStatus talus_bodies_reserve_keeping(TalusBodies *bodies, size_t slots, size_t keep)
{
    if (slots > INT32_MAX)
        return talus_reject("bodies: %zu are more than %d", slots, INT32_MAX);
    for (int f = 0; f < TALUS_BODY_FIELDS; f++) {
        size_t element = talus_body_fields[f].element;
        void *array = talus_grow(talus_body_array(bodies, f), slots, keep, element, "bodies");
        memcpy((char *)bodies + talus_body_fields[f].offset, &array, sizeof array);
        TALUS_TRY(talus_check_capacity(array, slots, element));
    }
    return TALUS_OK;
}

void talus_bodies_clear(TalusBodies *bodies)
{
    for (int f = 0; f < TALUS_BODY_FIELDS; f++)
        talus_release(talus_body_array(bodies, f));
    talus_release(bodies->displaced);
    *bodies = (TalusBodies){0};
}

TalusBodyView talus_bodies_view(const TalusWorld *world, const TalusBodies *bodies,
                                const TalusFilter *filter)
{
    TalusBodyView view = {
        .count = bodies->counts.slots,
        .position = bodies->position,
        .orientation = bodies->orientation,
        .velocity = bodies->velocity,
        .radius = bodies->radius,
        .size = bodies->size,
        .shape = bodies->shape,
        .mobility = bodies->mobility,
        .shapes = world->shape,
        .shape_count = world->shapes,
        .filter = filter,
        .period = talus_has_period(&world->def.period) ? &world->def.period : NULL,
    };
    return view;
}

TalusBodyBatch talus_body_batch_default(void)
{
    TalusBodyBatch batch = {.cookie = BATCH_COOKIE};
    return batch;
}

double talus_batch_radius(const TalusWorld *world, const TalusBodyBatch *batch, int i)
{
    const TalusShape *shape = &world->shape[batch->shape];
    if (shape->def.kind != TALUS_SHAPE_SPHERE)
        return shape->bounding_radius;
    return batch->radius ? batch->radius[i] : shape->def.radius;
}

double talus_batch_density(const TalusWorld *world, const TalusBodyBatch *batch)
{
    return batch->density > 0.0 ? batch->density : world->materials.def[batch->material].density;
}

/* Checks position, velocities, orientation and radius of the batch's body i. before: number of bodies in earlier pieces. */
static TalusStatus check_batch_body(const TalusWorld *world, const TalusBodyBatch *batch, int i,
                                    int before)
{
    if (!talus_finite3(batch->position[i]))
        return talus_reject("bodies: position of body %d is not finite", before + i);
    if ((batch->velocity && !talus_finite3(batch->velocity[i])) ||
        (batch->spin && !talus_finite3(batch->spin[i])))
        return talus_reject("bodies: velocity of body %d is not finite", before + i);
    if (batch->orientation) {
        TalusQuat q = batch->orientation[i];
        double n = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
        if (!(fabs(n - 1.0) < 1e-3))
            return talus_reject("bodies: orientation of body %d has length %g; expected 1",
                                before + i, sqrt(n));
    }
    double radius = talus_batch_radius(world, batch, i);
    if (world->shape[batch->shape].def.kind == TALUS_SHAPE_SPHERE &&
        (!(radius > 0.0) || !isfinite(radius)))
        return talus_reject("bodies: radius of body %d is %g; expected more than 0", before + i,
                            radius);
    return TALUS_OK;
}

/* Refuses a force or torque that is not finite, or on fixed bodies. */
static TalusStatus check_force(const TalusBodyBatch *batch)
{
    TalusVec3 f = batch->force, t = batch->torque;
    if (talus_norm(f) == 0.0 && talus_norm(t) == 0.0)
        return TALUS_OK;
    if (batch->fixed || !talus_finite3(f) || !talus_finite3(t))
        return talus_reject("bodies: a force %s",
                            batch->fixed ? "acts on bodies that move" : "is not finite");
    return TALUS_OK;
}

/* Checks what the bodies of a batch have in common; check_piece adds the arrays. */
static TalusStatus check_batch(const TalusWorld *world, const TalusBodyBatch *batch)
{
    if (!batch || batch->cookie != BATCH_COOKIE)
        return talus_reject("bodies: the batch was not made by talus_body_batch_default()");
    if (batch->count < 0)
        return talus_reject("bodies: count is %d", batch->count);
    if (batch->shape < 0 || batch->shape >= world->shapes)
        return talus_reject("bodies: shape %d; there are %d", batch->shape, world->shapes);
    if (batch->material < 0 || batch->material >= world->materials.count)
        return talus_reject("bodies: material %d; there are %d", batch->material,
                            world->materials.count);
    if (batch->count > 0 && !batch->position)
        return talus_reject("bodies: position is NULL; it has no default");
    TalusShapeKind kind = world->shape[batch->shape].def.kind;
    if (talus_shape_has(kind, TALUS_TRAIT_WALL) && !batch->fixed)
        return talus_reject("bodies: a %s must be fixed", talus_shape_name(kind));
    if (!(batch->mass >= 0.0) || !isfinite(batch->mass) || !(batch->density >= 0.0) ||
        !isfinite(batch->density))
        return talus_reject("bodies: mass %g, density %g; expected 0 or more", batch->mass,
                            batch->density);
    if (batch->group < 0 || batch->group >= TALUS_GROUPS)
        return talus_reject("bodies: group %d; expected 0 to %d", batch->group, TALUS_GROUPS - 1);
    if (batch->copy < 0 || batch->copy >= TALUS_COPIES)
        return talus_reject("bodies: copy %d; expected 0 to %d", batch->copy, TALUS_COPIES - 1);
    if (batch->fixed && world->def.cell.on)
        return talus_reject("bodies: fixed bodies do not move with a cell that deforms; expected "
                            "free bodies, or a world without such a cell");
    TALUS_TRY(check_force(batch));
    if (!batch->fixed && batch->mass == 0.0 && talus_batch_density(world, batch) == 0.0)
        return talus_reject(
            "bodies: neither mass nor density is given, and the material has no density");
    return TALUS_OK;
}

/* Sets *mass to the mass of the batch's body i, 0 if fixed; refuses a mass that is not positive and finite. */
static TalusStatus compute_batch_mass(const TalusWorld *world, const TalusBodyBatch *batch, int i,
                                      int before, double *mass)
{
    *mass = batch->fixed ? 0.0 : batch->mass;
    if (batch->fixed)
        return TALUS_OK;
    if (batch->mass == 0.0) {
        TalusMassProperties properties;
        TALUS_TRY(talus_shape_mass_of_built(&world->shape[batch->shape],
                                            talus_batch_radius(world, batch, i),
                                            talus_batch_density(world, batch), &properties));
        *mass = properties.mass;
    }
    if (!(*mass > 0.0) || !isfinite(1.0 / *mass) || !isfinite(*mass))
        return talus_reject("bodies: body %d would have a mass of %g kg", before + i, *mass);
    return TALUS_OK;
}

TalusStatus talus_batch_check(const TalusWorld *world, const TalusBodyBatch *batch)
{
    TALUS_TRY(check_batch(world, batch));
    for (int i = 0; i < batch->count; i++)
        TALUS_TRY(check_batch_body(world, batch, i, 0));
    return TALUS_OK;
}

/* Checks a batch, or a piece of one that follows `before` bodies, with the masses of its bodies. */
static TalusStatus check_piece(const TalusWorld *world, const TalusBodyBatch *piece, int before)
{
    double mass;
    TALUS_TRY(check_batch(world, piece));
    for (int i = 0; i < piece->count; i++)
        TALUS_TRY(check_batch_body(world, piece, i, before));
    for (int i = 0; i < piece->count; i++)
        TALUS_TRY(compute_batch_mass(world, piece, i, before, &mass));
    return TALUS_OK;
}

/* Returns the lowest dead slot, or a new one behind the last, and assigns the next id number to it. */
static int claim_slot(TalusBodies *bodies)
{
    TalusBodyCounts *n = &bodies->counts;
    while (n->first_free < n->slots && bodies->shape[n->first_free] >= 0)
        n->first_free++;
    int slot = n->first_free++;
    if (slot == n->slots)
        n->slots++;
    talus_slot_assign_id(bodies, slot);
    return slot;
}

/* Writes the batch's body i to all arrays at `slot` and counts it. */
static void fill_slot(TalusWorld *world, int slot, const TalusBodyBatch *batch, int i, double mass)
{
    TalusBodies *bodies = &world->bodies;
    const TalusShape *shape = &world->shape[batch->shape];
    bool sphere = shape->def.kind == TALUS_SHAPE_SPHERE;
    TalusVec3 zero = {0.0, 0.0, 0.0};
    bodies->position[slot] = talus_wrap_position(&world->def.period, batch->position[i]);
    bodies->orientation[slot] =
        batch->orientation ? talus_quat_normalize(batch->orientation[i]) : talus_quat_identity();
    bodies->velocity[slot] = batch->velocity && !batch->fixed ? batch->velocity[i] : zero;
    if (world->def.cell.on)
        bodies->velocity[slot] =
            talus_add(bodies->velocity[slot], talus_cell_flow_at(world, bodies->position[slot]));
    bodies->spin[slot] = batch->spin && !batch->fixed ? batch->spin[i] : zero;
    bodies->mass[slot] = mass;
    bodies->dissipated[slot] = 0.0;
    bodies->radius[slot] = talus_batch_radius(world, batch, i);
    bodies->size[slot] = sphere ? bodies->radius[slot] : shape->size;
    bodies->shape[slot] = batch->shape;
    bodies->material[slot] = batch->material;
    bodies->tag[slot] = batch->tag;
    bodies->mobility[slot] = batch->fixed ? TALUS_MOBILITY_FIXED : TALUS_MOBILITY_FREE;
    bodies->group[slot] = (uint16_t)(TALUS_GROUPS * batch->copy + batch->group);
    bodies->counts.living++;
    bodies->counts.general += !batch->fixed && !sphere;
}

double talus_slot_kinetic(const TalusWorld *world, int slot)
{
    const TalusBodies *b = &world->bodies;
    TalusVec3 v = b->velocity[slot], w = b->spin[slot];
    double rotation =
        talus_slot_is_sphere(world, slot)
            ? 0.2 * b->radius[slot] * b->radius[slot] * talus_dot(w, w)
            : talus_spin_energy(&world->gyration[b->shape[slot]], b->orientation[slot], w);
    return b->mass[slot] * (0.5 * talus_dot(v, v) + rotation);
}

void talus_slot_exchange(const TalusWorld *world, int slot, double sign, TalusExchange *exchange)
{
    const TalusBodies *b = &world->bodies;
    if (!talus_slot_is_dynamic(b, slot))
        return;
    double kinetic = sign * talus_slot_kinetic(world, slot);
    double potential = -sign * b->mass[slot] * talus_dot(world->def.gravity, b->position[slot]);
    talus_sum_add(&exchange->kinetic, &kinetic, 1);
    talus_sum_add(&exchange->potential, &potential, 1);
}

void talus_exchange_book(TalusWorld *world, const TalusExchange *exchange)
{
    TalusExchange all = *exchange;
    talus_comm_add_sums(world->ranks.comm, &all.kinetic, 1);
    talus_comm_add_sums(world->ranks.comm, &all.potential, 1);
    world->exchange_kinetic += talus_sum_value(&all.kinetic);
    world->exchange_potential += talus_sum_value(&all.potential);
}

/* True if this rank owns the next body that is added. */
static bool owns_next(TalusWorld *world)
{
    return !talus_world_is_dealt(world) ||
           talus_ranks_owner_of_new(world, world->bodies.counts.created + 1) ==
               talus_comm_rank(world->ranks.comm);
}

/* Returns an upper bound of the number of the next `count` bodies that this rank owns. */
static int count_own(const TalusWorld *world, int count)
{
    const int ranks = talus_comm_size(world->ranks.comm);
    if (ranks == 1)
        return count;
    const int64_t most = (int64_t)(count / (BODY_GRAIN * ranks) + 2) * BODY_GRAIN;
    return most < count ? (int)most : count;
}

/* Returns the number of slots that the world needs once `count` bodies have been added. */
static size_t slots_with(const TalusWorld *world, int count)
{
    const TalusBodyCounts *n = &world->bodies.counts;
    const size_t living = (size_t)n->living + (size_t)count_own(world, count);
    return living > (size_t)n->slots ? living : (size_t)n->slots;
}

/* Reserves memory for `count` bodies of a batch, so that they can be added without a failure. */
static TalusStatus reserve_for_batch(TalusWorld *world, const TalusBodyBatch *batch, int count)
{
    const int own = count_own(world, count);
    TALUS_TRY(talus_bodies_reserve(&world->bodies, slots_with(world, count)));
    TALUS_TRY(talus_ids_reserve(&world->bodies, own, !talus_world_is_dealt(world)));
    if (talus_norm(batch->force) + talus_norm(batch->torque) > 0.0)
        TALUS_TRY(talus_forces_reserve(world, slots_with(world, count)));
    TALUS_TRY(talus_journal_reserve(world, own));
    return count > 0 ? talus_world_mark_bodies_dirty(world) : TALUS_OK;
}

TalusStatus talus_world_begin_pieces(TalusWorld *world, const TalusBodyBatch *batch, int count)
{
    TalusBodyBatch common = *batch;
    common.count = 0;
    TALUS_TRY(check_batch(world, &common));
    TALUS_TRY(reserve_for_batch(world, batch, count));
    if (batch->fixed)
        talus_wake_all(world); /* a sleeping body is not tested against fixed ones */
    world->filters.copies_apart |= batch->copy > 0 && count > 0;
    return TALUS_OK;
}

/* Adds the batch's body i, if this rank owns it; there is memory for it. */
static void add_body(TalusWorld *world, const TalusBodyBatch *batch, int i, TalusExchange *exchange)
{
    double mass = 0.0;
    if (!owns_next(world)) {
        world->bodies.counts.created++;
        world->ranks.elsewhere++;
        return;
    }
    int slot = claim_slot(&world->bodies);
    if (slot < world->sleep.slots)
        world->sleep.calm[slot] = 0;
    talus_slot_clear_exclusions(world, slot);
    (void)talus_slot_set_force(world, slot, batch->force, batch->torque); /* has capacity */
    (void)compute_batch_mass(world, batch, i, 0, &mass); /* checked before, cannot fail */
    fill_slot(world, slot, batch, i, mass);
    talus_journal_record(world, slot, -1);
    talus_slot_exchange(world, slot, 1.0, exchange);
}

/* Adds the bodies of a piece, which are sound and for which there is memory. */
static void add_checked(TalusWorld *world, const TalusBodyBatch *piece, TalusPieces *pieces)
{
    for (int i = 0; i < piece->count; i++)
        add_body(world, piece, i, &pieces->exchange);
    pieces->added += piece->count;
}

TalusStatus talus_world_add_piece(TalusWorld *world, const TalusBodyBatch *piece,
                                  TalusPieces *pieces)
{
    TALUS_TRY(check_piece(world, piece, pieces->added));
    add_checked(world, piece, pieces);
    return TALUS_OK;
}

int talus_world_count_next(TalusWorld *world, int count, bool *own)
{
    const uint64_t number = world->bodies.counts.created + 1;
    const uint64_t left = BODY_GRAIN - (number - 1) % BODY_GRAIN; /* in the block */
    *own = owns_next(world);
    return !talus_world_is_dealt(world) || (uint64_t)count < left ? count : (int)left;
}

void talus_world_pass_over(TalusWorld *world, int count, TalusPieces *pieces)
{
    world->bodies.counts.created += (uint64_t)count;
    world->ranks.elsewhere += count;
    pieces->added += count;
}

TalusStatus talus_world_add_bodies(TalusWorld *world, const TalusBodyBatch *batch, TalusBodyId *ids)
{
    TalusPieces pieces = {0};
    TALUS_TRY(check_piece(world, batch, 0));
    TALUS_TRY(
        talus_comm_agree(world->ranks.comm, talus_world_begin_pieces(world, batch, batch->count)));
    for (int i = 0; ids && i < batch->count; i++)
        ids[i] = (TalusBodyId){world->bodies.counts.created + 1 + (uint64_t)i};
    add_checked(world, batch, &pieces);
    talus_exchange_book(world, &pieces.exchange);
    return TALUS_OK;
}

void talus_slot_remove(TalusWorld *world, int slot, TalusExchange *exchange)
{
    TalusBodies *bodies = &world->bodies;
    talus_slot_exchange(world, slot, -1.0, exchange);
    bodies->counts.living--;
    bodies->counts.general -=
        talus_slot_is_dynamic(bodies, slot) && !talus_slot_is_sphere(world, slot);
    talus_journal_record(world, slot, bodies->shape[slot]);
    bodies->shape[slot] = -1;
    if (slot < bodies->counts.first_free)
        bodies->counts.first_free = slot;
}

TalusStatus talus_world_remove_body(TalusWorld *world, TalusBodyId id)
{
    TalusExchange exchange = {0};
    int slot;
    TALUS_TRY(talus_ranks_find_body(world, id, &slot));
    TALUS_TRY(talus_world_mark_bodies_dirty(world));
    talus_wake_all(world);
    talus_body_clear_drive(world, id);
    talus_joints_forget_body(world, id);
    if (slot >= 0) {
        talus_world_drop_impulses(world, slot);
        talus_slot_remove(world, slot, &exchange);
    } else {
        world->ranks.elsewhere--;
    }
    talus_ranks_forget_body(world, id);
    talus_exchange_book(world, &exchange);
    return TALUS_OK;
}

TalusStatus talus_world_set_velocity(TalusWorld *world, TalusBodyId id, TalusVec3 velocity,
                                     TalusVec3 spin)
{
    int slot;
    TALUS_TRY(talus_ranks_find_body(world, id, &slot));
    if (!talus_ranks_body_is_dynamic(world, slot))
        return talus_reject("body %" PRIu64 " is fixed and has no velocity", id.number);
    if (!talus_finite3(velocity) || !talus_finite3(spin))
        return talus_reject("body %" PRIu64 ": the velocity is not finite", id.number);
    TALUS_TRY(talus_world_mark_bodies_dirty(world));
    talus_slot_wake(world, slot);
    if (slot >= 0) {
        world->exchange_kinetic -= talus_slot_kinetic(world, slot);
        world->bodies.velocity[slot] = velocity;
        world->bodies.spin[slot] = spin;
        world->exchange_kinetic += talus_slot_kinetic(world, slot);
    }
    talus_ranks_take_from_owner(world, slot, &world->exchange_kinetic);
    return TALUS_OK;
}

TalusStatus talus_world_set_group(TalusWorld *world, TalusBodyId id, int group)
{
    int slot;
    if (group < 0 || group >= TALUS_GROUPS)
        return talus_reject("group %d; expected 0 to %d", group, TALUS_GROUPS - 1);
    TALUS_TRY(talus_ranks_find_body(world, id, &slot));
    talus_slot_wake(world, slot);
    TalusStatus status = talus_world_mark_bodies_dirty(world);
    uint16_t *groups = world->bodies.group;
    if (status == TALUS_OK && slot >= 0)
        groups[slot] = (uint16_t)(groups[slot] / TALUS_GROUPS * TALUS_GROUPS + group);
    return talus_comm_agree(world->ranks.comm, status);
}
