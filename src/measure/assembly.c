/* measure/assembly.c - the bodies of a snapshot that flow, and their contacts.
 *
 * Body a of a contact always flows. The contact point is seen from each body's centre in its nearest image, so that arms
 * are right across the sides of a period. */
#include "base/memory.h"
#include "base/order.h"
#include "base/status.h"
#include "collide/period.h"

#include <stdlib.h>
#include <string.h>
#include <talus/measure.h>

static const double sphere_volume = 4.1887902047863909846; /* 4 pi / 3 */

/* A snapshot that is being read. */
typedef struct Reader {
    const TalusSnapshot *snapshot;
    const TalusFramesHead *head;
    TalusMassProperties
        *unit; /* of each shape at density 1; spheres and shapes without volume: 0 */
    int *row;  /* of each body of the snapshot in the assembly; -1: boundary */
    int tag;
} Reader;

/* ---- bodies ---- */

static bool flows(const Reader *r, int i)
{
    return !r->snapshot->fixed[i] && (r->tag == TALUS_ANY_TAG || r->snapshot->tag[i] == r->tag);
}

/* Sets the rows of the bodies that flow; returns their number. */
static int number_rows(const Reader *r)
{
    int count = 0;
    for (int i = 0; i < r->snapshot->body_count; i++)
        r->row[i] = flows(r, i) ? count++ : -1;
    return count;
}

/* Computes the properties of the shapes that may move. */
static TalusStatus measure_shapes(Reader *r)
{
    for (int s = 0; s < r->head->shape_count; s++) {
        const TalusShapeDef *def = &r->head->shapes[s];
        const bool surface = def->kind == TALUS_SHAPE_PLANE || def->kind == TALUS_SHAPE_REVOLVE ||
                             def->kind == TALUS_SHAPE_MESH || def->kind == TALUS_SHAPE_FIELD;
        if (def->kind != TALUS_SHAPE_SPHERE && !surface)
            TALUS_TRY(talus_shape_mass(def, 0.0, 1.0, &r->unit[s]));
    }
    return TALUS_OK;
}

static double volume_of(const Reader *r, int i)
{
    const int shape = r->snapshot->shape[i];
    const double radius = r->snapshot->radius[i];
    return r->head->shapes[shape].kind == TALUS_SHAPE_SPHERE
               ? sphere_volume * radius * radius * radius
               : r->unit[shape].mass;
}

/* Returns the kinetic energy of a body's spin. */
static double rotation_of(const Reader *r, int i, double mass)
{
    const TalusSnapshot *s = r->snapshot;
    const TalusVec3 w = s->spin[i];
    const TalusMassProperties *unit = &r->unit[s->shape[i]];
    if (r->head->shapes[s->shape[i]].kind == TALUS_SHAPE_SPHERE)
        return 0.2 * mass * s->radius[i] * s->radius[i] * talus_dot(w, w);
    const TalusVec3 in_body = talus_rotate_back(s->orientation[i], w);
    return 0.5 * mass / unit->mass * talus_dot(in_body, talus_sym3_mul(unit->inertia, in_body));
}

/* Fills row `to` from body i. */
static void copy_body(const Reader *r, int i, int to, TalusAssembly *out)
{
    const TalusSnapshot *s = r->snapshot;
    const double known = s->mass ? s->mass[i] : NAN;
    out->position[to] = s->position[i];
    out->radius[to] = s->radius[i];
    out->volume[to] = volume_of(r, i);
    out->mass[to] =
        isnan(known) ? out->volume[to] * r->head->materials[s->material[i]].density : known;
    out->assumed_masses += isnan(known);
    out->tag[to] = s->tag[i];
    out->id[to] = s->id[i].number;
    if (out->dissipated)
        out->dissipated[to] = s->dissipated[i];
    if (out->velocity)
        out->velocity[to] = s->velocity[i];
    if (!out->spin)
        return;
    out->spin[to] = s->spin[i];
    out->rotation[to] = rotation_of(r, i, out->mass[to]);
}

static TalusStatus allocate_bodies(const Reader *r, int count, TalusAssembly *out)
{
    const size_t n = (size_t)count;
    out->body_count = count;
    TALUS_TRY(TALUS_ALLOC(out->position, n, "assembly"));
    TALUS_TRY(TALUS_ALLOC(out->mass, n, "assembly"));
    TALUS_TRY(TALUS_ALLOC(out->volume, n, "assembly"));
    TALUS_TRY(TALUS_ALLOC(out->radius, n, "assembly"));
    TALUS_TRY(TALUS_ALLOC(out->tag, n, "assembly"));
    TALUS_TRY(TALUS_ALLOC(out->id, n, "assembly"));
    if (r->snapshot->dissipated)
        TALUS_TRY(TALUS_ALLOC(out->dissipated, n, "assembly"));
    if (r->snapshot->velocity)
        TALUS_TRY(TALUS_ALLOC(out->velocity, n, "assembly"));
    if (r->snapshot->spin)
        TALUS_TRY(TALUS_ALLOC(out->spin, n, "assembly"));
    if (r->snapshot->spin)
        TALUS_TRY(TALUS_ALLOC(out->rotation, n, "assembly"));
    out->data |= out->velocity ? TALUS_ASSEMBLY_VELOCITY : 0;
    out->data |= out->spin ? TALUS_ASSEMBLY_SPIN : 0;
    return TALUS_OK;
}

static TalusStatus take_bodies(Reader *r, TalusAssembly *out)
{
    TALUS_TRY(allocate_bodies(r, number_rows(r), out));
    TALUS_TRY(measure_shapes(r));
    for (int i = 0; i < r->snapshot->body_count; i++)
        if (r->row[i] >= 0)
            copy_body(r, i, r->row[i], out);
    return TALUS_OK;
}

/* ---- contacts ---- */

/* Returns the row of a body of a contact; -1 also for a body that the snapshot lacks. */
static int row_of(const Reader *r, int body)
{
    return body < 0 ? -1 : r->row[body];
}

/* Returns the vector from a body of the assembly to the nearest image of a point. */
static TalusVec3 arm_of(const TalusAssembly *assembly, int row, TalusVec3 point)
{
    return talus_nearest_image_vector(&assembly->period, talus_sub(point, assembly->position[row]));
}

/* Returns impulse over length, divided as tables of frames have it, so that both give the same bits. */
static TalusVec3 force_of(const TalusSnapshot *s, TalusVec3 impulse)
{
    const double h = s->length;
    return h > 0.0 ? talus_vec3(impulse.x / h, impulse.y / h, impulse.z / h) : talus_vec3(0, 0, 0);
}

/* Fills a contact, at least one of whose bodies flows. */
static void copy_contact(const Reader *r, int i, const TalusAssembly *assembly,
                         TalusAssemblyContact *out)
{
    const TalusSnapshot *s = r->snapshot;
    const TalusContactState *c = &s->contact[i];
    const int a = row_of(r, s->contact_a[i]), b = row_of(r, s->contact_b[i]);
    const double way = a < 0 ? -1.0 : 1.0;
    *out = (TalusAssemblyContact){.a = a < 0 ? b : a, .b = a < 0 ? -1 : b, .gap = c->gap};
    out->arm_a = arm_of(assembly, out->a, c->point);
    if (out->b >= 0)
        out->arm_b = arm_of(assembly, out->b, c->point);
    out->normal = talus_scale(way, c->normal);
    out->force = talus_scale(way, force_of(s, c->impulse));
}

/* True if contacts i - 1 and i are of the same two bodies; contacts of a pair are neighbours in the list. */
static bool same_pair(const TalusSnapshot *s, int i)
{
    return i > 0 && s->contact[i].a.number == s->contact[i - 1].a.number &&
           s->contact[i].b.number == s->contact[i - 1].b.number;
}

static TalusStatus take_contacts(const Reader *r, TalusAssembly *out)
{
    const TalusSnapshot *s = r->snapshot;
    TALUS_TRY(TALUS_ALLOC(out->contact, (size_t)s->contact_count, "assembly"));
    for (int i = 0; i < s->contact_count; i++) {
        if (row_of(r, s->contact_a[i]) < 0 && row_of(r, s->contact_b[i]) < 0)
            continue;
        TalusAssemblyContact *contact = &out->contact[out->contact_count++];
        copy_contact(r, i, out, contact);
        if (!same_pair(s, i))
            out->pair_count++;
        contact->pair = out->pair_count - 1;
    }
    out->data |= s->fields & TALUS_SNAPSHOT_CONTACTS ? TALUS_ASSEMBLY_CONTACTS : 0;
    return TALUS_OK;
}

/* ---- all ---- */

TalusStatus talus_assembly_take(const TalusSnapshot *snapshot, const TalusFramesHead *head, int tag,
                                TalusAssembly *out)
{
    Reader r = {.snapshot = snapshot, .head = head, .tag = tag};
    *out =
        (TalusAssembly){.time = snapshot->time,
                        .period = head->period,
                        .up = talus_normalize(talus_neg(head->gravity), talus_vec3(0.0, 0.0, 0.0))};
    TalusStatus status = TALUS_ALLOC(r.row, (size_t)snapshot->body_count, "assembly");
    TALUS_THEN(status, TALUS_ALLOC(r.unit, (size_t)head->shape_count, "assembly"));
    TALUS_THEN(status, take_bodies(&r, out));
    TALUS_THEN(status, take_contacts(&r, out));
    TALUS_RELEASE(r.row, r.unit);
    if (status != TALUS_OK)
        talus_assembly_free(out);
    return status;
}

/* Returns what body i of `a` had dissipated at an earlier state; *at is a row of that state, at most the body's, which rises
 * from call to call. */
static double dissipated_before(const TalusAssembly *a, int i, const TalusAssembly *earlier,
                                int *at)
{
    while (earlier && *at < earlier->body_count && earlier->id[*at] < a->id[i])
        ++*at;
    const bool known = earlier && *at < earlier->body_count && earlier->id[*at] == a->id[i];
    return known ? earlier->dissipated[*at] : 0.0;
}

TalusStatus talus_assembly_compare(TalusAssembly *a, const TalusAssembly *earlier)
{
    const double passed = a->time - (earlier ? earlier->time : 0.0);
    const bool unknown = earlier && earlier->body_count > 0 && !earlier->dissipated;
    int at = 0;
    if (!a->dissipated || unknown || !(passed > 0.0))
        return TALUS_OK;
    talus_release(a->power);
    a->power = NULL;
    TALUS_TRY(TALUS_ALLOC(a->power, (size_t)a->body_count, "assembly"));
    for (int i = 0; i < a->body_count; i++)
        a->power[i] = (a->dissipated[i] - dissipated_before(a, i, earlier, &at)) / passed;
    a->data |= TALUS_ASSEMBLY_POWER;
    return TALUS_OK;
}

TalusStatus talus_assembly_median_radius(const TalusAssembly *assembly, double *median)
{
    const size_t count = (size_t)assembly->body_count;
    double *radius = NULL;
    TALUS_TRY(TALUS_ALLOC(radius, count, "radii"));
    memcpy(radius, assembly->radius, count * sizeof *radius);
    qsort(radius, count, sizeof *radius, talus_compare_doubles);
    *median = count ? radius[count / 2] : NAN;
    talus_release(radius);
    return TALUS_OK;
}

void talus_assembly_free(TalusAssembly *a)
{
    TALUS_RELEASE(a->position, a->velocity, a->spin, a->mass, a->volume, a->radius, a->rotation,
                  a->tag, a->id, a->dissipated, a->power, a->contact);
    *a = (TalusAssembly){0};
}
