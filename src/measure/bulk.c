/* measure/bulk.c - bulk figures: masses, energies, forces, coordination.
 *
 * Coordination counts pairs: a pair of bodies with several contact points, such as two boxes face to face, counts once.
 * Rattlers, bodies with too few neighbours, are removed together, then those that have become rattlers, until none is
 * left; so the result does not depend on the order of bodies. Contacts with the boundary count as neighbours. */
#include "measure/bulk.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

TalusBulkDef talus_bulk_def_default(void)
{
    return (TalusBulkDef){.region = {.lo = {-INFINITY, -INFINITY, -INFINITY},
                                     .hi = {INFINITY, INFINITY, INFINITY},
                                     .axis = -1},
                          .rattler_contacts = 2};
}

/* ---- bodies ---- */

/* Sums masses, centre, momentum (in out->velocity) and energies; fluctuation is set by finish_bodies. */
static void add_body(const TalusAssembly *a, int i, TalusBulk *out)
{
    const double m = a->mass[i];
    out->bodies++;
    out->mass += m;
    out->volume += a->volume[i];
    out->centre = talus_madd(out->centre, m, a->position[i]);
    if (a->velocity) {
        out->velocity = talus_madd(out->velocity, m, a->velocity[i]);
        out->translation += 0.5 * m * talus_dot(a->velocity[i], a->velocity[i]);
    }
    out->rotation += a->rotation ? a->rotation[i] : NAN;
    out->dissipated += a->dissipated ? a->dissipated[i] : NAN;
    out->dissipation += a->power ? a->power[i] : NAN;
}

static void measure_bodies(const TalusAssembly *a, const TalusBulkDef *def, TalusBulk *out)
{
    const TalusVec3 unknown = {NAN, NAN, NAN};
    for (int i = 0; i < a->body_count; i++)
        if (talus_bulk_includes(def, a->position[i]))
            add_body(a, i, out);
    out->centre = talus_scale(1.0 / out->mass, out->centre);
    out->velocity = a->velocity ? talus_scale(1.0 / out->mass, out->velocity) : unknown;
    out->translation = a->velocity ? out->translation : NAN;
    out->fluctuation = 0.0;
    for (int i = 0; i < a->body_count && a->velocity; i++) {
        const TalusVec3 d = talus_sub(a->velocity[i], out->velocity);
        if (talus_bulk_includes(def, a->position[i]))
            out->fluctuation += 0.5 * a->mass[i] * talus_dot(d, d);
    }
    out->fluctuation = a->velocity ? out->fluctuation : NAN;
}

/* ---- contacts ---- */

static void measure_forces(const TalusAssembly *a, const TalusBulkDef *def, TalusBulk *out)
{
    for (int i = 0; i < a->contact_count; i++) {
        const TalusAssemblyContact *c = &a->contact[i];
        const double force = talus_normal_force(c);
        if (!(force > 0.0) || !talus_bulk_counts(a, def, c))
            continue;
        const double overlap = fmax(0.0, -c->gap);
        out->contacts += 1.0;
        out->mean_force += force;
        out->max_force = fmax(out->max_force, force);
        out->mean_overlap += overlap;
        out->max_overlap = fmax(out->max_overlap, overlap);
    }
    out->mean_force /= fmax(out->contacts, 1.0);
    out->mean_overlap /= fmax(out->contacts, 1.0);
}

/* ---- coordination ---- */

/* Neighbours of each body. */
typedef struct Neighbours {
    const TalusAssembly *assembly;
    bool *loaded;  /* of each pair */
    int *count;    /* of each body: neighbours left */
    bool *rattler; /* of each body */
} Neighbours;

/* True if contact i is the one by which its pair is counted: the first, if some contact of the pair is loaded. */
static bool is_pair(const Neighbours *n, int i)
{
    const TalusAssemblyContact *c = &n->assembly->contact[i];
    return n->loaded[c->pair] && (i == 0 || c[-1].pair != c->pair);
}

/* Counts the neighbours of all bodies, rattlers neither counting nor counted. */
static void count_neighbours(Neighbours *n)
{
    const TalusAssembly *a = n->assembly;
    memset(n->count, 0, (size_t)a->body_count * sizeof *n->count);
    for (int i = 0; i < a->contact_count; i++) {
        const TalusAssemblyContact *c = &a->contact[i];
        const bool a_left = !n->rattler[c->a], b_left = c->b < 0 || !n->rattler[c->b];
        if (!is_pair(n, i) || !a_left || !b_left)
            continue;
        n->count[c->a]++;
        if (c->b >= 0)
            n->count[c->b]++;
    }
}

/* Marks bodies with fewer than `least` neighbours; false if there are none but those marked before. */
static bool mark_rattlers(Neighbours *n, int least)
{
    bool some = false;
    for (int i = 0; i < n->assembly->body_count; i++) {
        const bool rattler = n->count[i] < least;
        some |= rattler && !n->rattler[i];
        n->rattler[i] |= rattler;
    }
    return some;
}

/* Returns the mean number of neighbours of the bodies in the box that are no rattlers, and their number. */
static double mean_neighbours(const Neighbours *n, const TalusBulkDef *def, int64_t *bodies)
{
    int64_t neighbours = 0;
    *bodies = 0;
    for (int i = 0; i < n->assembly->body_count; i++) {
        const bool left = !n->rattler[i] && talus_bulk_includes(def, n->assembly->position[i]);
        neighbours += left ? n->count[i] : 0;
        *bodies += left;
    }
    return *bodies ? (double)neighbours / (double)*bodies : 0.0;
}

static void count_coordination(Neighbours *n, const TalusBulkDef *def, TalusBulk *out)
{
    int64_t bodies, left;
    for (int i = 0; i < n->assembly->contact_count; i++)
        if (talus_normal_force(&n->assembly->contact[i]) > 0.0)
            n->loaded[n->assembly->contact[i].pair] = true;
    count_neighbours(n);
    out->coordination = mean_neighbours(n, def, &bodies);
    while (mark_rattlers(n, def->rattler_contacts))
        count_neighbours(n);
    out->backbone = mean_neighbours(n, def, &left);
    out->rattlers = bodies ? 1.0 - (double)left / (double)bodies : 0.0;
}

static TalusStatus measure_coordination(const TalusAssembly *a, const TalusBulkDef *def,
                                        TalusBulk *out)
{
    Neighbours n = {.assembly = a};
    TalusStatus status = TALUS_ALLOC(n.loaded, (size_t)a->pair_count, "coordination");
    TALUS_THEN(status, TALUS_ALLOC(n.count, (size_t)a->body_count, "coordination"));
    TALUS_THEN(status, TALUS_ALLOC(n.rattler, (size_t)a->body_count, "coordination"));
    if (status == TALUS_OK)
        count_coordination(&n, def, out);
    TALUS_RELEASE(n.loaded, n.count, n.rattler);
    return status;
}

TalusStatus talus_bulk_measure(const TalusAssembly *assembly, const TalusBulkDef *def,
                               TalusBulk *out)
{
    *out = (TalusBulk){0};
    measure_bodies(assembly, def, out);
    if (assembly->data & TALUS_ASSEMBLY_CONTACTS) {
        measure_forces(assembly, def, out);
        return measure_coordination(assembly, def, out);
    }
    out->contacts = out->coordination = out->rattlers = out->backbone = NAN;
    out->mean_force = out->max_force = out->mean_overlap = out->max_overlap = NAN;
    return TALUS_OK;
}
