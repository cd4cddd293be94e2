/* world/save/save.c - the whole state of a world as bytes: what a state has, in order, and saving.
 *
 *     "TALUSWLD"  version u32  0 u32  size u64    header; the size counts every byte
 *     def, counters, shapes, materials, bodies, groups, exclusions, forces, drives, sleep, joints, probes, sinks,
 *     emitters, delayed bodies, contacts, solver state    each by one function, here or in save_*.c
 *     hash u64                                    over all bytes before
 *
 * Loading (load.c) trusts nothing: every count, index and number is checked here. A refusal gives TALUS_ERR_FORMAT with the
 * offset. */
#include "world/save/save.h"
#include "world/ids.h"
#include "world/save/loaded.h"
#include "world/state.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"

/* Versions of the format that are read; NEWEST is written. Macros, because a message quotes them. */
#define OLDEST 5
#define NEWEST 17
#define TEXT_OF(x) #x
#define TEXT(macro) TEXT_OF(macro)
static const char file_magic[8] = {'T', 'A', 'L', 'U', 'S', 'W', 'L', 'D'};

/* ---- def and counters ---- */

static void transfer_model(TalusArchive *a, TalusFrictionModel *model)
{
    TALUS_ARCHIVE_ENUM(a, model->section);
    TALUS_ARCHIVE_ENUM(a, model->law);
    TALUS_ARCHIVE_I32(a, &model->sides);
}

static void transfer_gradient(TalusArchive *a, TalusGradient *g)
{
    TALUS_ARCHIVE_F64(a, &g->xx, &g->yy, &g->zz, &g->xy);
}

static void transfer_tensor(TalusArchive *a, TalusSym3 *s)
{
    TALUS_ARCHIVE_F64(a, &s->xx, &s->yy, &s->zz, &s->xy, &s->xz, &s->yz);
}

/* Transfers what the def has of a cell that deforms; versions before 15 have none. */
static void transfer_cell_def(TalusArchive *a, TalusWorldDef *def)
{
    TalusCellDef *cell = &def->cell;
    if (a->version < 15)
        return;
    talus_archive_bool(a, &cell->on);
    transfer_gradient(a, &cell->rate);
    for (int k = 0; k < 3; k++) {
        talus_archive_bool(a, &cell->control[k]);
        TALUS_ARCHIVE_F64(a, &cell->pressure[k]);
    }
}

void talus_archive_def(TalusArchive *a, TalusWorldDef *def, char **solver, char **backend)
{
    TALUS_ARCHIVE_VEC3(a, &def->gravity);
    TALUS_ARCHIVE_F64(a, &def->step, &def->tolerance, &def->reference_speed);
    TALUS_ARCHIVE_ENUM(a, def->norm);
    TALUS_ARCHIVE_I32(a, &def->max_iterations);
    TALUS_ARCHIVE_ENUM(a, def->on_miss);
    TALUS_ARCHIVE_F64(a, &def->envelope, &def->recovery);
    if (a->version > 7)
        TALUS_ARCHIVE_F64(a, &def->compliance, &def->elastic_overlap);
    else
        def->compliance = 0.0; /* up to version 7 contacts were rigid */
    transfer_model(a, &def->friction);
    TALUS_ARCHIVE_F64(a, &def->restitution_threshold, &def->cohesion_range, &def->sleep_speed);
    if (a->version > 15)
        TALUS_ARCHIVE_ENUM(a, def->impacts);
    else
        def->impacts = TALUS_IMPACTS_SIMULTANEOUS;
    TALUS_ARCHIVE_I32(a, &def->sleep_steps);
    TALUS_ARCHIVE_VEC3(a, &def->period.lo, &def->period.hi);
    TALUS_ARCHIVE_I32(a, &def->period.on[0], &def->period.on[1], &def->period.on[2]);
    transfer_cell_def(a, def);
    talus_archive_bool(a, &def->projection);
    if (a->version > 16)
        talus_archive_bool(a, &def->dissipation);
    else
        def->dissipation = false;
    talus_archive_text(a, solver);
    talus_archive_text(a, backend);
}

/* Transfers the motion of a cell that deforms; versions before 15 have none. */
static void transfer_cell(TalusArchive *a, TalusWorld *world)
{
    TalusWorldCell saved = world->cell;
    TalusCellState *s = &saved.state;
    TalusPeriod *p = &world->def.period;
    double tilt = p->tilt;
    bool on = world->def.cell.on;
    if (a->version < 15)
        return;
    talus_archive_bool(a, &on);
    if (!on)
        return;
    TALUS_ARCHIVE_VEC3(a, &saved.now.cell.centre, &saved.start, &saved.stiffest);
    transfer_gradient(a, &saved.now.cell.last);
    transfer_gradient(a, &saved.now.rate);
    transfer_gradient(a, &s->rate);
    TALUS_ARCHIVE_F64(a, &tilt, &saved.now.shear, &s->strain[0], &s->strain[1], &s->strain[2],
                      &s->shear, &s->work, &s->total_work);
    transfer_tensor(a, &s->contact_stress);
    transfer_tensor(a, &s->kinetic_stress);
    if (!(saved.start.x > 0.0 && saved.start.y > 0.0 && saved.start.z > 0.0))
        talus_archive_refuse(a, "a length of the cell at its start is not above 0");
    if (!a->loading)
        return;
    p->tilt = tilt;
    saved.now.cell.period = s->period = *p;
    world->cell = saved;
}

static void transfer_counters(TalusArchive *a, TalusWorld *world)
{
    talus_archive_i64(a, &world->steps);
    transfer_cell(a, world);
    TALUS_ARCHIVE_F64(a, &world->base_time);
    talus_archive_i64(a, &world->base_steps);
    talus_archive_i64(a, &world->missed_steps);
    talus_archive_bool(a, &world->said_missed);
    talus_archive_bool(a, &world->said_infeasible);
    TALUS_ARCHIVE_F64(a, &world->exchange_kinetic, &world->exchange_potential,
                      &world->impulse_step);
    if (a->version > 7)
        TALUS_ARCHIVE_F64(a, &world->elastic, &world->kinetic);
    if (a->version > 8)
        talus_archive_bool(a, &world->rough_first);
    if (a->version > 9)
        TALUS_ARCHIVE_F64(a, &world->last_compliance);
    if (!isfinite(world->last_compliance))
        talus_archive_refuse(a, "the compliance of the last step is not finite");
    if (world->steps < 0 || world->missed_steps < 0 || world->impulse_step < 0.0)
        talus_archive_refuse(a, "a counter is negative");
    if (!(world->base_time >= 0.0 && isfinite(world->base_time)) || world->base_steps < 0 ||
        world->base_steps > world->steps)
        talus_archive_refuse(a, "the last shortened step is not one of the past");
}

/* ---- materials ---- */

static void transfer_material(TalusArchive *a, TalusWorld *world, int index)
{
    TalusMaterialDef m = a->loading ? (TalusMaterialDef){0} : world->materials.def[index];
    char *name = (char *)m.name;
    talus_archive_text(a, &name);
    TALUS_ARCHIVE_F64(a, &m.friction, &m.density, &m.stiffness, &m.damping, &m.restitution,
                      &m.spinning, &m.rolling, &m.cohesion);
    if (!a->loading)
        return;
    m.name = name;
    TALUS_ARCHIVE_CALL(a, talus_world_add_material(world, &m, NULL));
    talus_release(name);
}

/* True if a property was set for the pair. */
static bool has_own_values(const TalusPairDef *pair)
{
    const TalusPairDef unset = talus_pair_def_default();
    return pair->own_model || pair->friction != unset.friction ||
           pair->restitution != unset.restitution || pair->spinning != unset.spinning ||
           pair->rolling != unset.rolling || pair->cohesion != unset.cohesion;
}

/* Transfers the properties set for the pair of materials i and j. */
static void transfer_pair(TalusArchive *a, TalusWorld *world, int i, int j)
{
    TalusPairDef pair = talus_pair_def_default();
    if (!a->loading)
        pair = world->materials.pair[i * world->materials.count + j];
    TALUS_ARCHIVE_F64(a, &pair.friction, &pair.restitution, &pair.spinning, &pair.rolling,
                      &pair.cohesion);
    talus_archive_bool(a, &pair.own_model);
    transfer_model(a, &pair.model);
    if (a->loading && has_own_values(&pair)) /* each call recomputes all laws */
        TALUS_ARCHIVE_CALL(a, talus_world_set_pair(world, i, j, &pair));
}

/* Transfers all materials, then all pairs i >= j. */
static void transfer_materials(TalusArchive *a, TalusWorld *world)
{
    int count = world->materials.count;
    talus_archive_count(a, &count, 68);
    if (a->loading) {
        talus_materials_clear(&world->materials); /* the default material is saved too */
        if (count == 0)
            talus_archive_refuse(a, "there is no material");
    }
    for (int i = 0; i < count; i++)
        transfer_material(a, world, i);
    for (int i = 0; i < count; i++)
        for (int j = 0; j <= i && a->status == TALUS_OK; j++)
            transfer_pair(a, world, i, j);
}

/* ---- bodies ---- */

/* True if position, velocities and dissipated energy of slot i are finite and its orientation has length 1. */
static bool has_finite_state(const TalusBodies *b, int i)
{
    TalusVec3 x = b->position[i], v = b->velocity[i], w = b->spin[i];
    TalusQuat q = b->orientation[i];
    double length = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    double sum = (x.x + x.y + x.z) + (v.x + v.y + v.z) + (w.x + w.y + w.z) + b->dissipated[i];
    return isfinite(sum) && fabs(length - 1.0) < 1e-3;
}

/* Checks the loaded data of a living slot and, if they are valid, counts the body. Radius and size of a body other than
 * a sphere must be those of its shape. */
static bool check_and_count_slot(TalusWorld *world, int i)
{
    TalusBodies *b = &world->bodies;
    if (b->shape[i] >= world->shapes || b->material[i] < 0 ||
        b->material[i] >= world->materials.count || b->mobility[i] > TALUS_MOBILITY_ASLEEP ||
        b->id[i] == 0 || b->id[i] > b->counts.created || !has_finite_state(b, i))
        return false;
    const TalusShape *shape = &world->shape[b->shape[i]];
    bool sphere = shape->def.kind == TALUS_SHAPE_SPHERE;
    if (sphere ? !(b->radius[i] > 0.0) || !isfinite(b->radius[i])
               : b->radius[i] != shape->bounding_radius)
        return false;
    if (b->size[i] != (sphere ? b->radius[i] : shape->size))
        return false;
    bool dynamic = talus_slot_is_dynamic(b, i);
    if (dynamic ? !(b->mass[i] > 0.0) || !isfinite(b->mass[i]) : b->mass[i] != 0.0)
        return false;
    if (dynamic && talus_shape_has(shape->def.kind, TALUS_TRAIT_WALL))
        return false;
    b->counts.living++;
    b->counts.general += dynamic && !sphere;
    world->filters.copies_apart |= b->group[i] >= TALUS_GROUPS;
    return true;
}

/* Checks and counts all loaded bodies and builds the index of their ids. */
static void check_loaded_bodies(TalusArchive *a, TalusWorld *world)
{
    TalusBodies *b = &world->bodies;
    for (int i = 0; i < b->counts.slots && a->status == TALUS_OK; i++)
        if (b->shape[i] < -1 || (b->shape[i] >= 0 && !check_and_count_slot(world, i)))
            talus_archive_refuse(a, "a body's data contradict each other");
    TALUS_ARCHIVE_CALL(a, talus_ids_index_loaded(b));
}

/* True if a state has the array talus_body_fields[field]; dissipated: those energies are there, as the world that was saved
 * has summed them. */
static bool is_saved(int field, bool dissipated)
{
    return talus_body_fields[field].offset != offsetof(TalusBodies, dissipated) || dissipated;
}

/* An array of bodies to be saved. */
typedef struct SavedField {
    const TalusRows *rows;
    int field; /* in talus_body_fields */
} SavedField;

static void fill_field(const void *context, int64_t first, int64_t count, void *out)
{
    const SavedField *saved = context;
    const size_t element = talus_body_fields[saved->field].element;
    const char *array = talus_body_array(&saved->rows->world->bodies, saved->field);
    char *to = out;
    for (int64_t k = 0; k < count; k++)
        memcpy(to + (size_t)k * element,
               array + (size_t)talus_rows_slot(saved->rows, first + k) * element, element);
}

/* Saves the arrays of all living bodies, by ascending ids. */
static void save_bodies(TalusArchive *a)
{
    int count = (int)a->rows->bodies.all;
    talus_archive_count(a, &count, 140);
    talus_archive_u64(a, &a->rows->world->bodies.counts.created);
    bool dissipated = a->rows->world->def.dissipation;
    talus_archive_bool(a, &dissipated);
    for (int f = 0; f < TALUS_BODY_FIELDS; f++)
        if (is_saved(f, dissipated))
            talus_archive_span(a, a->rows->bodies, talus_body_fields[f].element, fill_field,
                               &(SavedField){a->rows, f});
}

/* An array of bodies that is loaded. */
typedef struct LoadedField {
    TalusArchive *archive;
    TalusBodies *bodies;
    char *array;
    size_t element;
} LoadedField;

static TalusStatus take_field(void *context, int64_t first, int64_t count, const void *items)
{
    const LoadedField *field = context;
    memcpy(field->array + (size_t)first * field->element, items, (size_t)count * field->element);
    return TALUS_OK;
}

/* Version 5 has, instead of the id, the number of bodies that the slot has had (talus_id_from_generation). */
static TalusStatus take_generations(void *context, int64_t first, int64_t count, const void *items)
{
    const LoadedField *field = context;
    TalusBodies *b = field->bodies;
    const uint32_t *generation = items;
    const int64_t row = field->archive->loaded->rows.before + first;
    for (int64_t k = 0; k < count; k++) {
        const uint64_t id = talus_id_from_generation((uint32_t)(row + k), generation[k]);
        b->id[first + k] = id;
        b->counts.created = id > b->counts.created ? id : b->counts.created;
    }
    return TALUS_OK;
}

/* Up to version 11 there were no copies, and a group was one byte, below TALUS_GROUPS. */
static TalusStatus take_short_groups(void *context, int64_t first, int64_t count, const void *items)
{
    const LoadedField *field = context;
    const uint8_t *group = items;
    for (int64_t k = 0; k < count; k++) {
        if (group[k] >= TALUS_GROUPS)
            talus_archive_refuse(field->archive, "a body's data contradict each other");
        field->bodies->group[first + k] = group[k];
    }
    return field->archive->status;
}

/* Loads the array talus_body_fields[field] of all slots; older versions have other ids and groups. */
static void load_field(TalusArchive *a, TalusBodies *b, int field)
{
    const int64_t rows = a->loaded->rows.all;
    LoadedField of = {a, b, talus_body_array(b, field), talus_body_fields[field].element};
    if (a->version == 5 && (void *)of.array == b->id)
        talus_archive_spread(a, rows, rows, sizeof(uint32_t), take_generations, &of);
    else if (a->version < 12 && (void *)of.array == b->group)
        talus_archive_spread(a, rows, rows, sizeof(uint8_t), take_short_groups, &of);
    else
        talus_archive_spread(a, rows, rows, of.element, take_field, &of);
}

/* Of several ranks each has found the largest id of its piece. */
static void share_created(TalusArchive *a, TalusBodies *b)
{
    double created = (double)b->counts.created; /* exact, as far as ids are in range */
    if (a->version > 5 || !talus_archive_agree(a))
        return;
    talus_comm_find_maxima(a->comm, &created, 1);
    b->counts.created = created >= 0.0 ? (uint64_t)created : 0; /* NaN: a rank has failed */
}

/* Loads the arrays of this rank's slots; those that earlier versions have saved may be dead. */
static void load_bodies(TalusArchive *a, TalusWorld *world)
{
    TalusBodies *b = &world->bodies;
    TalusLoaded *l = a->loaded;
    int slots = 0;
    talus_archive_count(a, &slots, 140);
    if (a->version > 5)
        talus_archive_u64(a, &b->counts.created);
    bool dissipated = false;
    if (a->version > 16)
        talus_archive_bool(a, &dissipated);
    if (b->counts.created >= TALUS_ID_LIMIT)
        talus_archive_refuse(a, "the ids of bodies are out of range");
    l->rows = talus_even_span(slots, talus_comm_size(a->comm), talus_comm_rank(a->comm));
    TALUS_ARCHIVE_CALL(a, talus_bodies_reserve(b, (size_t)l->rows.count));
    for (int f = 0; f < TALUS_BODY_FIELDS; f++)
        if (is_saved(f, dissipated))
            load_field(a, b, f);
    share_created(a, b);
    if (a->status != TALUS_OK)
        return;
    if (!dissipated)
        memset(b->dissipated, 0, (size_t)l->rows.count * sizeof *b->dissipated);
    b->counts.slots = (int)l->rows.count;
    b->counts.detected = b->counts.created; /* saved contacts are of saved bodies */
    check_loaded_bodies(a, world);
}

static void transfer_bodies(TalusArchive *a, TalusWorld *world)
{
    if (a->loading)
        load_bodies(a, world);
    else
        save_bodies(a);
}

/* ---- probes, sinks, emitters, delayed bodies ---- */

/* Transfers a number of contacts or bodies as i32; one that does not fit is not saved. */
static void transfer_number(TalusArchive *a, int64_t *number)
{
    int32_t stored = (int32_t)*number;
    if (!a->loading && a->status == TALUS_OK && *number > INT32_MAX)
        a->status = talus_fail(TALUS_ERR_UNSUPPORTED,
                               "saved state: a probe counts %" PRId64 "; it can store at most %d",
                               *number, INT32_MAX);
    TALUS_ARCHIVE_I32(a, &stored);
    *number = stored;
}

static void transfer_probe_value(TalusArchive *a, TalusProbeValue *value)
{
    TALUS_ARCHIVE_VEC3(a, &value->force, &value->torque);
    transfer_number(a, &value->contacts);
    transfer_number(a, &value->bodies);
    TALUS_ARCHIVE_F64(a, &value->mass);
    TALUS_ARCHIVE_VEC3(a, &value->momentum);
}

/* Transfers what a plane has beyond a region, and what has gone through it. */
static void transfer_plane(TalusArchive *a, TalusProbe *probe)
{
    TalusProbeDef *def = &probe->def;
    TALUS_ARCHIVE_VEC3(a, &def->at, &def->normal, &def->half);
    TALUS_ARCHIVE_F64(a, &def->radius, &probe->value.total_mass);
    talus_archive_i64(a, &probe->value.total_bodies);
}

static void transfer_probe(TalusArchive *a, TalusWorld *world, int index)
{
    TalusProbe probe = a->loading ? (TalusProbe){0} : world->probe[index];
    TalusProbeDef *def = &probe.def;
    talus_archive_text(a, &probe.name);
    TALUS_ARCHIVE_ENUM(a, def->kind);
    talus_archive_id(a, &def->body.number);
    TALUS_ARCHIVE_VEC3(a, &def->lo, &def->hi);
    if (a->version > 11)
        TALUS_ARCHIVE_I32(a, &def->copy);
    transfer_probe_value(a, &probe.value);
    if (a->version > 14 && def->kind == TALUS_PROBE_PLANE)
        transfer_plane(a, &probe);
    if (!a->loading)
        return;
    def->name = probe.name;
    TALUS_ARCHIVE_CALL(a, talus_probe_check(def));
    TALUS_ARCHIVE_CALL(a, talus_probe_append(world, def, &index));
    if (a->status == TALUS_OK)
        world->probe[index].value = probe.value;
    talus_release(probe.name);
}

static void transfer_sink(TalusArchive *a, TalusWorld *world, int index)
{
    TalusSink sink = a->loading ? (TalusSink){0} : world->sources.sink[index];
    TALUS_ARCHIVE_I32(a, &sink.axis);
    TALUS_ARCHIVE_F64(a, &sink.below);
    if (a->version > 14) { /* before, sinks had no names and did not count */
        talus_archive_text(a, &sink.name);
        talus_archive_i64(a, &sink.flow.bodies);
        TALUS_ARCHIVE_F64(a, &sink.flow.mass, &sink.flow.total_mass);
        talus_archive_i64(a, &sink.flow.total_bodies);
    }
    if (!a->loading)
        return;
    TALUS_ARCHIVE_CALL(a, talus_world_add_named_sink(world, sink.name, sink.axis, sink.below));
    if (a->status == TALUS_OK)
        talus_sink_set_flow(world, index, &sink.flow);
    talus_release(sink.name);
}

static void transfer_emitter_def(TalusArchive *a, TalusEmitterDef *def)
{
    TALUS_ARCHIVE_VEC3(a, &def->lo, &def->hi);
    TALUS_ARCHIVE_F64(a, &def->rate, &def->start);
    talus_archive_i64(a, &def->count);
    TALUS_ARCHIVE_F64(a, &def->radius_min, &def->radius_max);
    TALUS_ARCHIVE_VEC3(a, &def->velocity);
    TALUS_ARCHIVE_I32(a, &def->material);
    TALUS_ARCHIVE_F64(a, &def->density);
    talus_archive_u64(a, &def->seed);
    TALUS_ARCHIVE_I32(a, &def->tag, &def->group);
    if (a->version > 11)
        TALUS_ARCHIVE_I32(a, &def->copy);
}

/* Transfers a distribution of sizes; loading allocates its `sieve`, which the caller releases. */
static void transfer_sizes(TalusArchive *a, TalusSizeDef *sizes)
{
    TALUS_ARCHIVE_ENUM(a, sizes->kind);
    talus_archive_bool(a, &sizes->by_mass);
    TALUS_ARCHIVE_F64(a, &sizes->min, &sizes->max, &sizes->mean, &sizes->median, &sizes->deviation,
                      &sizes->scale, &sizes->exponent);
    talus_archive_count(a, &sizes->sieve_count, 2 * sizeof(double));
    sizes->sieve = talus_archive_array(a, sizes->sieve, sizes->sieve_count, 2 * sizeof(double));
}

/* True if the number of waiting radii fits the number drawn, and each radius is within the emitter's limits. */
static bool is_valid_emitter(const TalusEmitter *e)
{
    bool sound = e->drawn >= e->waiting && (e->waiting == 0 || e->radius);
    for (int i = 0; sound && i < e->waiting; i++)
        sound = e->radius[i] >= e->def.radius_min && e->radius[i] <= e->def.radius_max;
    return sound;
}

/* Transfers an emitter: def, random state, number of radii drawn, waiting radii. */
static void transfer_emitter(TalusArchive *a, TalusWorld *world, int index)
{
    TalusEmitterDef def =
        a->loading ? talus_emitter_def_default() : world->sources.emitter[index].def;
    TalusSizeDef sizes =
        a->loading ? talus_size_def_default() : world->sources.emitter[index].sizes;
    transfer_emitter_def(a, &def);
    if (a->version > 12) { /* before, radii were uniform */
        transfer_sizes(a, &sizes);
        def.sizes = &sizes;
    }
    if (a->loading) {
        TALUS_ARCHIVE_CALL(a, talus_world_add_emitter(world, &def));
        talus_release((void *)sizes.sieve);
    }
    if (a->status != TALUS_OK)
        return;
    TalusEmitter *e = &world->sources.emitter[index];
    talus_archive_u64(a, &e->rng.state);
    talus_archive_i64(a, &e->drawn);
    talus_archive_count(a, &e->waiting, sizeof *e->radius);
    e->radius = talus_archive_array(a, e->radius, e->waiting, sizeof *e->radius);
    if (a->loading && a->status == TALUS_OK && !is_valid_emitter(e))
        talus_archive_refuse(a, "an emitter's state contradicts its definition");
}

static void transfer_batch(TalusArchive *a, TalusBodyBatch *b)
{
    talus_archive_count(a, &b->count, sizeof(TalusVec3));
    TALUS_ARCHIVE_I32(a, &b->shape, &b->material);
    talus_archive_bool(a, &b->fixed);
    TALUS_ARCHIVE_F64(a, &b->density, &b->mass);
    TALUS_ARCHIVE_I32(a, &b->tag, &b->group);
    if (a->version > 11)
        TALUS_ARCHIVE_I32(a, &b->copy);
    TALUS_ARCHIVE_VEC3(a, &b->force, &b->torque);
    b->position = talus_archive_array(a, b->position, b->count, sizeof *b->position);
    b->orientation = talus_archive_array(a, b->orientation, b->count, sizeof *b->orientation);
    b->velocity = talus_archive_array(a, b->velocity, b->count, sizeof *b->velocity);
    b->spin = talus_archive_array(a, b->spin, b->count, sizeof *b->spin);
    b->radius = talus_archive_array(a, b->radius, b->count, sizeof *b->radius);
}

static void transfer_pending(TalusArchive *a, TalusWorld *world, int index)
{
    TalusPending pending = {.batch = talus_body_batch_default()};
    if (!a->loading)
        pending = world->sources.pending[index];
    TALUS_ARCHIVE_F64(a, &pending.time);
    transfer_batch(a, &pending.batch);
    if (!a->loading)
        return;
    TALUS_ARCHIVE_CALL(a, talus_world_add_bodies_at(world, pending.time, &pending.batch));
    talus_pending_clear(&pending);
}

/* ---- solver ---- */

/* Transfers the solver's state; discard: a loaded state is skipped. */
static void transfer_solver(TalusArchive *a, TalusWorld *world, bool discard)
{
    int size = a->loading ? 0 : (int)talus_solver_state_size(world->solver);
    unsigned char *state = NULL;
    talus_archive_count(a, &size, 1);
    TALUS_ARCHIVE_CALL(a, TALUS_ALLOC(state, (size_t)size, "solver state"));
    if (a->status == TALUS_OK && !a->loading && size > 0)
        talus_solver_state_save(world->solver, state);
    if (a->status == TALUS_OK)
        talus_archive_bytes(a, state, (size_t)size);
    if (a->loading && size > 0 && !discard)
        TALUS_ARCHIVE_CALL(a, talus_solver_state_load(world->solver, state, (size_t)size));
    talus_release(state);
}

/* ---- everything ---- */

void talus_archive_world(TalusArchive *a, TalusWorld *world, bool changed)
{
    transfer_counters(a, world);
    talus_archive_list(a, world, world->shapes, 48, talus_archive_shape);
    transfer_materials(a, world);
    transfer_bodies(a, world);
    talus_archive_motion(a, world);
    talus_archive_joints(a, world);
    talus_archive_list(a, world, world->probes, 152, transfer_probe);
    talus_archive_list(a, world, world->sources.sinks, 12, transfer_sink);
    talus_archive_list(a, world, world->sources.emitters, 140, transfer_emitter);
    talus_archive_list(a, world, world->sources.pendings, 44, transfer_pending);
    talus_archive_contacts(a, world);
    transfer_solver(a, world, changed);
}

void talus_archive_header(TalusArchive *a, uint64_t *size)
{
    uint32_t zero = 0;
    char text[sizeof file_magic];
    memcpy(text, file_magic, sizeof file_magic);
    talus_archive_bytes(a, text, sizeof text);
    if (memcmp(text, file_magic, sizeof file_magic) != 0)
        talus_archive_refuse(a, "this is no saved state (it begins with \"TALUSWLD\")");
    talus_archive_u32(a, &a->version);
    if (a->version < OLDEST || a->version > NEWEST)
        talus_archive_refuse(a, a->version >= 1 && a->version < OLDEST
                                    ? "saved by a library before version " TEXT(
                                          OLDEST) " of this format, "
                                                  "which this one cannot go on from"
                                    : "saved by another version of the library (expected " TEXT(
                                          OLDEST) " to " TEXT(NEWEST) ")");
    talus_archive_u32(a, &zero);
    talus_archive_u64(a, size);
}

/* Saves everything but the hash. total: the size, hash included. */
static void save_content(TalusArchive *a, TalusWorld *world, uint64_t total)
{
    talus_archive_header(a, &total);
    talus_archive_def(a, &world->def, &world->solver_spec, &world->backend_name);
    talus_archive_world(a, world, false);
}

/* Sets *total to the size of the state, on rank 0. */
static TalusStatus count_bytes(TalusWorld *world, const TalusRows *rows, uint64_t *total)
{
    TalusArchive a = {.version = NEWEST, .rows = rows, .counting = true};
    save_content(&a, world, 0);
    *total = a.offset + sizeof *total;
    return talus_comm_agree(rows->comm, a.status);
}

/* Puts the state into the sink, which other ranks than the first do not have. */
static TalusStatus put_state(TalusWorld *world, const TalusRows *rows, uint64_t total,
                             const TalusByteSink *sink)
{
    TalusArchive a = {
        .version = NEWEST, .rows = rows, .sink = sink, .hash = {.hash = TALUS_HASH_SEED}};
    if (sink)
        a.status = TALUS_ALLOC(a.buffer, TALUS_ARCHIVE_BUFFER, "saved state");
    save_content(&a, world, total);
    uint64_t hash = talus_hasher_end(&a.hash);
    talus_archive_u64(&a, &hash);
    if (sink)
        talus_archive_flush(&a);
    talus_release(a.buffer);
    return talus_comm_agree(rows->comm, a.status);
}

/* Where the size of the state is told before its bytes come; NULL: nowhere. */
typedef TalusStatus ReserveFn(void *context, uint64_t total);

/* Saves the world, whose bodies and contacts are on the host. */
static TalusStatus save_world(TalusWorld *world, ReserveFn *reserve, const TalusByteSink *sink)
{
    TalusRows rows;
    uint64_t total;
    TALUS_TRY(talus_rows_open(world, &rows));
    const bool first = talus_comm_rank(rows.comm) == 0;
    TalusStatus status = count_bytes(world, &rows, &total);
    if (status == TALUS_OK && first && reserve)
        status = reserve(sink->context, total);
    status = talus_comm_agree(rows.comm, status);
    TALUS_THEN(status, put_state(world, &rows, total, first ? sink : NULL));
    talus_rows_close(&rows);
    return status;
}

TalusStatus talus_world_save_to(const TalusWorld *world, const TalusByteSink *sink)
{
    TALUS_TRY(talus_comm_agree(world->ranks.comm, talus_ranks_download(world)));
    return save_world((TalusWorld *)world, NULL, sink); /* written only when loading */
}

/* Saved bytes in memory. */
typedef struct Block {
    unsigned char *bytes;
    size_t used;
} Block;

static TalusStatus reserve_block(void *context, uint64_t total)
{
    Block *block = context;
    return TALUS_ALLOC(block->bytes, (size_t)total, "saved state");
}

static TalusStatus put_into_block(void *context, const void *bytes, size_t size)
{
    Block *block = context;
    memcpy(block->bytes + block->used, bytes, size);
    block->used += size;
    return TALUS_OK;
}

/* Saves the world into new memory, on rank 0. */
static TalusStatus save_to_memory(TalusWorld *world, void **bytes, size_t *size)
{
    Block block = {0};
    const TalusByteSink sink = {put_into_block, &block};
    const TalusStatus status = save_world(world, reserve_block, &sink);
    if (status != TALUS_OK) {
        talus_release(block.bytes);
        return status;
    }
    *bytes = block.bytes;
    *size = block.used;
    return TALUS_OK;
}

TalusStatus talus_world_save(const TalusWorld *world, void **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    TALUS_TRY(talus_comm_agree(world->ranks.comm, talus_ranks_download(world)));
    return save_to_memory((TalusWorld *)world, bytes, size);
}

TalusStatus talus_world_save_without_bodies(const TalusWorld *world, void **bytes, size_t *size)
{
    TalusWorld empty = *world;
    *bytes = NULL;
    *size = 0;
    /* contacts of bodies that were not detected are not saved (talus_contact_lives) */
    empty.bodies.counts = (TalusBodyCounts){.created = world->bodies.counts.created};
    empty.forces.count = empty.filters.count = empty.drives = empty.sleep.slots = 0;
    empty.joints.count = 0;
    empty.ranks = (TalusRanks){0};
    return save_to_memory(&empty, bytes, size);
}
