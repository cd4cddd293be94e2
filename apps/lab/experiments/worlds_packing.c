/* lab/experiments/worlds_packing.c - packing of spheres, in `talus bench packing` frictionless: isostaticity and
 * density.
 *
 * Spheres of slightly different sizes (equal ones crystallise along flat walls) fall from a loose lattice into a box
 * and come to rest, in the last steps to a tight tolerance. Without friction a rigid packing has as many contacts as
 * there are force equations, 3 per sphere: 6 contacts per sphere, each shared by two (Moukarzel 1998; O'Hern et al.
 * 2003). Contacts count if their force exceeds a small share of the mean. Rattlers, which are spheres with fewer than 4
 * such contacts (with friction fewer than 2), support nothing: their contacts are removed until no rattler has any.
 * Contacts per sphere and packing fraction are those of a core away from walls, floor and surface. */
#include "packing.h"

#include "base/memory.h"

#include <math.h>

enum { SEEDS = 3 };

/* Shares of the mean normal force; a contact with less force does not count. */
static const double shares[PACKING_SHARES] = {1e-2, 1e-3, 1e-4, 1e-6};
static const double fraction_target = 0.64, contacts_target = 6.0;
/* Mean radius of the spheres, m; radii are uniform between radius (1 - spread) and radius (1 + spread). */
static const double radius = 0.1, spread = 0.2;
static const double step = 0.01; /* s */

typedef struct Spheres {
    TalusSnapshot snapshot;
    int *degree;      /* of each body: number of its contacts that count */
    bool *bears;      /* of each contact: true if it counts */
    double mean;      /* mean normal impulse of loaded contacts, N s */
    int contacts_min; /* a sphere with fewer contacts that count is a rattler */
} Spheres;

/* ---- reading the world ---- */

static void clear_spheres(Spheres *s)
{
    talus_snapshot_free(&s->snapshot);
    TALUS_RELEASE(s->degree, s->bears);
}

/* Takes a snapshot and the mean impulse of the world; allocates the arrays. */
static TalusStatus read_spheres(const TalusWorld *world, Spheres *s)
{
    TalusForceSummary forces;
    TALUS_TRY(talus_snapshot_take(&s->snapshot, world,
                                  TALUS_SNAPSHOT_VELOCITY | TALUS_SNAPSHOT_CONTACTS));
    TALUS_TRY(talus_world_get_forces(world, NULL, NULL, &forces));
    s->mean = forces.mean_impulse;
    TALUS_TRY(TALUS_ALLOC(s->degree, (size_t)s->snapshot.body_count, "spheres"));
    return TALUS_ALLOC(s->bears, (size_t)s->snapshot.contact_count, "contacts");
}

/* ---- counting ---- */

/* Clears `bears` of the contacts of rattlers, and lowers `degree`, until every sphere has either no contact that counts
 * or at least s->contacts_min. */
static void remove_rattlers(Spheres *s)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int c = 0; c < s->snapshot.contact_count; c++) {
            int a = s->snapshot.contact_a[c], b = s->snapshot.contact_b[c];
            bool loose = (!s->snapshot.fixed[a] && s->degree[a] < s->contacts_min) ||
                         (!s->snapshot.fixed[b] && s->degree[b] < s->contacts_min);
            if (s->bears[c] && loose) {
                s->bears[c] = false;
                s->degree[a]--;
                s->degree[b]--;
                changed = true;
            }
        }
    }
}

/* Sets `bears` and `degree` for contacts whose normal force exceeds `share` of the mean, without those of rattlers. */
static void count_loaded_contacts(Spheres *s, double share)
{
    for (int i = 0; i < s->snapshot.body_count; i++)
        s->degree[i] = 0;
    for (int c = 0; c < s->snapshot.contact_count; c++) {
        const TalusContactState *k = &s->snapshot.contact[c];
        s->bears[c] = talus_dot(k->impulse, k->normal) > share * s->mean;
        s->degree[s->snapshot.contact_a[c]] += s->bears[c];
        s->degree[s->snapshot.contact_b[c]] += s->bears[c];
    }
    remove_rattlers(s);
}

/* Returns the mean number of contacts of the spheres with their centre in the core, rattlers (degree 0) left out; NAN
 * if there are none. Writes the share of rattlers among the spheres in the core (NAN if the core is empty), and the
 * number of spheres in the core. */
static double find_mean_contacts(const Spheres *s, const WorldsCore *core, double *rattlers,
                                 int *inside)
{
    int sum = 0, loose = 0;
    *inside = 0;
    for (int i = 0; i < s->snapshot.body_count; i++) {
        TalusVec3 x = s->snapshot.position[i];
        if (s->snapshot.fixed[i] || fabs(x.x) > core->half || fabs(x.y) > core->half ||
            x.z < core->low || x.z > core->high)
            continue;
        ++*inside;
        sum += s->degree[i];
        loose += s->degree[i] == 0;
    }
    *rattlers = *inside ? (double)loose / *inside : NAN;
    return *inside > loose ? (double)sum / (*inside - loose) : NAN;
}

/* Returns the region at least bed->margin away from walls, floor (z = 0) and surface. The height of the surface is that
 * of a bed with the target packing fraction. */
static WorldsCore find_core(const PackingBed *bed, const Spheres *s)
{
    double volume = 0.0, width = bed->side * bed->spacing;
    for (int i = 0; i < s->snapshot.body_count; i++)
        if (!s->snapshot.fixed[i])
            volume += 4.0 / 3.0 * 3.14159265358979323846 * pow(s->snapshot.radius[i], 3);
    return (WorldsCore){.half = 0.5 * width - bed->margin,
                        .low = bed->margin,
                        .high = volume / (width * width * fraction_target) - bed->margin};
}

/* Fills `out`, except overlap and last, from the world's present state. */
static TalusStatus measure_packing(const TalusWorld *world, const PackingBed *bed, Packing *out)
{
    Spheres s = {.contacts_min = bed->mu > 0.0 ? 2 : 4};
    TalusStatus status = read_spheres(world, &s);
    if (status == TALUS_OK) {
        WorldsCore core = find_core(bed, &s);
        double volume = 0.0, square = 0.0, loose;
        for (int k = 0; k < PACKING_SHARES; k++) {
            count_loaded_contacts(&s, shares[k]);
            out->contacts[k] = find_mean_contacts(&s, &core, &loose, &out->core);
            if (k == PACKING_JUDGED)
                out->rattlers = loose;
        }
        for (int i = 0; i < s.snapshot.body_count; i++)
            if (!s.snapshot.fixed[i]) {
                volume +=
                    worlds_ball_volume_within(&core, s.snapshot.position[i], s.snapshot.radius[i]);
                square += talus_dot(s.snapshot.velocity[i], s.snapshot.velocity[i]);
            }
        out->fraction = volume / worlds_core_volume(&core);
        out->speed =
            sqrt(square / bed->bodies / (2.0 * radius * talus_norm(talus_world_gravity(world))));
    }
    clear_spheres(&s);
    return status;
}

/* ---- settling ---- */

TalusStatus packing_settle(const Worlds *w, const PackingBed *bed, const WorldsAssignments *sets,
                           int seed, Packing *out)
{
    WorldsCase c = {.scene = "settle-box", .backend = w->backend[0], .sets = *sets};
    TalusWorld *world;
    TalusStepInfo info;
    worlds_assign(&c.sets, "bodies=%d", bed->bodies);
    worlds_assign(&c.sets, "side=%d", bed->side);
    worlds_assign(&c.sets, "spacing=%.17g", bed->spacing);
    worlds_assign(&c.sets, "mu=%g", bed->mu);
    worlds_assign(&c.sets, "h=%g", step);
    worlds_assign(&c.sets, "bodies[grains].radius={\"mean\": %g, \"spread\": %g}", radius, spread);
    worlds_assign(&c.sets, "bodies[grains].density=1500");
    worlds_assign(&c.sets, "bodies[grains].seed=%d", seed);
    TALUS_TRY(worlds_build(w, &c, &world));
    TalusStatus status = TALUS_OK;
    for (int k = 0; status == TALUS_OK && k < PACKING_STAGES; k++) {
        char label[LAB_TEXT];
        snprintf(label, sizeof label, "packing: seed %d to %.0e g h", seed, bed->tolerance[k]);
        status = talus_world_set_accuracy(world, bed->tolerance[k], bed->budget);
        TALUS_THEN(status, worlds_advance(w, world, bed->steps[k], label, &out->last, NULL, NULL));
    }
    TALUS_THEN(status, talus_world_step(world, &info));
    if (status == TALUS_OK) {
        out->overlap = info.penetration_mean;
        status = measure_packing(world, bed, out);
    }
    talus_world_destroy(world);
    if (status == TALUS_OK)
        worlds_print_line(
            w, "packing: seed %d: fraction %.4f, %.3f contacts, speed %.1e, %.0f products", seed,
            out->fraction, out->contacts[PACKING_JUDGED], out->speed, out->last.products);
    return status;
}

/* ---- the table ---- */

static void add_packing_row(LabTable *t, int seed, const Packing *p)
{
    lab_table_add_cells(t, "%d\t%d\t%.4f", seed, p->core, p->fraction);
    for (int k = 0; k < PACKING_SHARES; k++)
        lab_table_add_cells(t, "%.3f", p->contacts[k]);
    lab_table_add_cells(t, "%.1f\t%.1e\t%.1e", 100.0 * p->rattlers, p->speed, p->overlap);
}

static void add_table_and_verdicts(Worlds *w, const PackingBed *bed, const Packing *found,
                                   int seeds)
{
    double fraction[SEEDS], contacts[SEEDS];
    LabTable *t =
        lab_set_add_table(w->set, "A frictionless packing: its core, by seed",
                          "seed\tspheres\tfraction\tcontacts, > 1e-2 mean\t> 1e-3\t> 1e-4\t"
                          "> 1e-6\trattlers, %\tspeed/sqrt(gd)\toverlap/r");
    for (int i = 0; i < seeds; i++) {
        add_packing_row(t, i + 1, &found[i]);
        fraction[i] = found[i].fraction;
        contacts[i] = found[i].contacts[PACKING_JUDGED];
    }
    snprintf(
        t->note, sizeof t->note,
        "Fraction %.4f +- %.4f, contacts per sphere without rattlers %.3f +- %.3f (scatter over "
        "seeds). %d spheres with radii of +-%.0f %% (uniform) in a box %.0f mean diameters wide, "
        "%d, %d and %d steps of %g s at 1e-2, 1e-4 and 1e-6 g h; the core is %.1f diameters away from walls, "
        "floor and surface. Backend %s.",
        worlds_mean(fraction, seeds), worlds_deviation(fraction, seeds),
        worlds_mean(contacts, seeds), worlds_deviation(contacts, seeds), bed->bodies,
        100.0 * spread, bed->side * bed->spacing / (2.0 * radius), bed->steps[0], bed->steps[1],
        bed->steps[2], step, 0.5 * bed->margin / radius, w->backend[0]);
    worlds_add_verdict(w, fabs(worlds_mean(contacts, seeds) / contacts_target - 1.0) * 100.0, 3.0,
                       "%", &found[0].last, "packing: contacts per sphere, off 6 by");
    worlds_add_verdict(w, fabs(worlds_mean(fraction, seeds) - fraction_target), 0.01, "",
                       &found[0].last, "packing: fraction, off 0.64 by");
}

static TalusStatus run_packing(Worlds *w)
{
    PackingBed bed = {.bodies = worlds_choose_size(w, 3000, 216),
                      .side = worlds_choose_size(w, 10, 5),
                      .steps = {worlds_choose_size(w, 600, 60), worlds_choose_size(w, 300, 10),
                                worlds_choose_size(w, 60, 5)},
                      .spacing = 0.25,
                      .margin = w->quick ? 0.2 : 0.5,
                      .tolerance = {1e-2, 1e-4, 1e-6},
                      .budget = 20000};
    Packing found[SEEDS];
    int seeds = worlds_choose_size(w, SEEDS, 1);
    for (int i = 0; i < seeds; i++)
        TALUS_TRY(packing_settle(w, &bed, &(WorldsAssignments){0}, i + 1, &found[i]));
    add_table_and_verdicts(w, &bed, found, seeds);
    return TALUS_OK;
}

const WorldsRow worlds_packing = {
    .name = "packing",
    .summary = "a frictionless packing: contacts per sphere and packing fraction",
    .source = "isostatic: 6 contacts (Moukarzel 1998); random close packing: 0.64 (Bernal 1960)",
    .run = run_packing};
