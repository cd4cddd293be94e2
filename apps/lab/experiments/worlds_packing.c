/* lab/experiments/worlds_packing.c - a packing of spheres without friction: is it isostatic, and how dense is it?
 *
 * Spheres of somewhat different sizes (equal ones crystallise along flat walls) fall from a loose lattice
 * into a box and come to rest without friction, the last steps to a tight tolerance. A rigid packing then
 * has as many contacts as its forces need equations, 3 for each sphere: 6 contacts per sphere, each shared
 * by two (Moukarzel 1998; O'Hern et al. 2003). Counted are contacts that bear, above a small share of the
 * mean force; spheres with fewer than 4 of them hold nothing up, and are taken out with their contacts until
 * none is left. Contacts per sphere and packing fraction are those of a core away from walls, floor and
 * surface. */
#include "worlds.h"

#include "base/memory.h"

#include <math.h>

enum { SEEDS = 3, STAGES = 3, SHARES = 4, JUDGED = 1, LEAST_CONTACTS = 4 };

/* Of the mean normal force, below which a contact does not bear. */
static const double shares[SHARES] = {1e-2, 1e-3, 1e-4, 1e-6};
static const double fraction_target = 0.64, contacts_target = 6.0;
static const double radius = 0.1, spread = 0.2, step = 0.01;

typedef struct Bed {
    int bodies, side, steps[STAGES];
    double spacing, margin, tolerance[STAGES]; /* over g h */
} Bed;

typedef struct Packing {
    double fraction;
    double contacts[SHARES]; /* per sphere of the core that is no rattler */
    double rattlers;         /* their share in the core, at shares[JUDGED] */
    int core;                /* spheres with their centres in it */
    double speed;            /* rms, over sqrt(g d) */
    double overlap;          /* mean of overlapping contacts, over radius */
    WorldsStep last;
} Packing;

typedef struct Spheres {
    TalusBodyState state;
    TalusContactState *contact;
    int *of_index; /* place in the state's arrays, by TalusBodyId.index */
    int *degree;
    bool *bears; /* contacts */
    int count, contacts;
    double mean; /* normal impulse of loaded contacts */
} Spheres;

/* ---- reading the world ---- */

static void clear(Spheres *s)
{
    talus_release(s->state.id);
    talus_release(s->state.position);
    talus_release(s->state.velocity);
    talus_release(s->state.radius);
    talus_release(s->state.fixed);
    talus_release(s->contact);
    talus_release(s->of_index);
    talus_release(s->degree);
    talus_release(s->bears);
}

static TalusStatus allocate(Spheres *s)
{
    size_t n = (size_t)s->count, m = (size_t)s->contacts + 1;
    TALUS_TRY(TALUS_ALLOC(s->state.id, n, "spheres"));
    TALUS_TRY(TALUS_ALLOC(s->state.position, n, "spheres"));
    TALUS_TRY(TALUS_ALLOC(s->state.velocity, n, "spheres"));
    TALUS_TRY(TALUS_ALLOC(s->state.radius, n, "spheres"));
    TALUS_TRY(TALUS_ALLOC(s->state.fixed, n, "spheres"));
    TALUS_TRY(TALUS_ALLOC(s->degree, n, "spheres"));
    TALUS_TRY(TALUS_ALLOC(s->contact, m, "contacts"));
    return TALUS_ALLOC(s->bears, m, "contacts");
}

static TalusStatus read_world(const TalusWorld *world, Spheres *s)
{
    TalusForceSummary forces;
    uint32_t most = 0;
    s->count = talus_world_body_count(world);
    s->contacts = talus_world_get_contacts(world, NULL, 0);
    TALUS_TRY(allocate(s));
    talus_world_get_state(world, &s->state);
    talus_world_get_contacts(world, s->contact, s->contacts);
    TALUS_TRY(talus_world_get_forces(world, NULL, NULL, &forces));
    s->mean = forces.mean_impulse;
    for (int i = 0; i < s->count; i++)
        most = s->state.id[i].index > most ? s->state.id[i].index : most;
    TALUS_TRY(TALUS_ALLOC(s->of_index, (size_t)most + 1, "spheres"));
    for (int i = 0; i < s->count; i++)
        s->of_index[s->state.id[i].index] = i;
    return TALUS_OK;
}

/* ---- counting ---- */

/* Contacts of spheres that hold nothing up go, until all that are left have enough. */
static void strip_rattlers(Spheres *s)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int c = 0; c < s->contacts; c++) {
            int a = s->of_index[s->contact[c].a.index], b = s->of_index[s->contact[c].b.index];
            bool loose = (!s->state.fixed[a] && s->degree[a] < LEAST_CONTACTS) ||
                         (!s->state.fixed[b] && s->degree[b] < LEAST_CONTACTS);
            if (s->bears[c] && loose) {
                s->bears[c] = false;
                s->degree[a]--;
                s->degree[b]--;
                changed = true;
            }
        }
    }
}

static void count_contacts(Spheres *s, double share)
{
    for (int i = 0; i < s->count; i++)
        s->degree[i] = 0;
    for (int c = 0; c < s->contacts; c++) {
        const TalusContactState *k = &s->contact[c];
        s->bears[c] = talus_dot(k->impulse, k->normal) > share * s->mean;
        s->degree[s->of_index[k->a.index]] += s->bears[c];
        s->degree[s->of_index[k->b.index]] += s->bears[c];
    }
    strip_rattlers(s);
}

/* Mean contacts of the core's spheres that are not rattlers, and the share of those that are. */
static double mean_contacts(const Spheres *s, const WorldsCore *core, double *rattlers, int *inside)
{
    int sum = 0, loose = 0;
    *inside = 0;
    for (int i = 0; i < s->count; i++) {
        TalusVec3 x = s->state.position[i];
        if (s->state.fixed[i] || fabs(x.x) > core->half || fabs(x.y) > core->half ||
            x.z < core->low || x.z > core->high)
            continue;
        ++*inside;
        sum += s->degree[i];
        loose += s->degree[i] == 0;
    }
    *rattlers = *inside ? (double)loose / *inside : NAN;
    return *inside > loose ? (double)sum / (*inside - loose) : NAN;
}

/* Walls and floor are planes at +-half the side and at 0. The surface is where the spheres would end if
 * all of the box were as dense as the core is at last. */
static WorldsCore core_of(const Bed *bed, const Spheres *s)
{
    double volume = 0.0, width = bed->side * bed->spacing;
    for (int i = 0; i < s->count; i++)
        if (!s->state.fixed[i])
            volume += 4.0 / 3.0 * 3.14159265358979323846 * pow(s->state.radius[i], 3);
    return (WorldsCore){.half = 0.5 * width - bed->margin,
                        .low = bed->margin,
                        .high = volume / (width * width * fraction_target) - bed->margin};
}

static TalusStatus measure(const TalusWorld *world, const Bed *bed, Packing *out)
{
    Spheres s = {0};
    TalusStatus status = read_world(world, &s);
    if (status == TALUS_OK) {
        WorldsCore core = core_of(bed, &s);
        double volume = 0.0, square = 0.0, loose;
        for (int k = 0; k < SHARES; k++) {
            count_contacts(&s, shares[k]);
            out->contacts[k] = mean_contacts(&s, &core, &loose, &out->core);
            if (k == JUDGED)
                out->rattlers = loose;
        }
        for (int i = 0; i < s.count; i++)
            if (!s.state.fixed[i]) {
                volume += worlds_ball_within(&core, s.state.position[i], s.state.radius[i]);
                square += talus_dot(s.state.velocity[i], s.state.velocity[i]);
            }
        out->fraction = volume / worlds_core_volume(&core);
        out->speed =
            sqrt(square / bed->bodies / (2.0 * radius * talus_norm(talus_world_gravity(world))));
    }
    clear(&s);
    return status;
}

/* ---- settling ---- */

static TalusStatus settle(const Worlds *w, const Bed *bed, int seed, Packing *out)
{
    WorldsCase c = {.scene = "settle-box", .backend = w->backend[0]};
    TalusWorld *world;
    TalusStepInfo info;
    worlds_set(&c.sets, "bodies=%d", bed->bodies);
    worlds_set(&c.sets, "side=%d", bed->side);
    worlds_set(&c.sets, "spacing=%.17g", bed->spacing);
    worlds_set(&c.sets, "mu=0");
    worlds_set(&c.sets, "h=%g", step);
    worlds_set(&c.sets, "bodies[grains].radius={\"mean\": %g, \"spread\": %g}", radius, spread);
    worlds_set(&c.sets, "bodies[grains].density=1500");
    worlds_set(&c.sets, "bodies[grains].seed=%d", seed);
    TALUS_TRY(worlds_open(w, &c, &world));
    TalusStatus status = TALUS_OK;
    for (int k = 0; status == TALUS_OK && k < STAGES; k++) {
        char label[LAB_TEXT];
        snprintf(label, sizeof label, "packing: seed %d to %.0e g h", seed, bed->tolerance[k]);
        status = talus_world_set_accuracy(world, bed->tolerance[k], 20000);
        if (status == TALUS_OK)
            status = worlds_advance(w, world, bed->steps[k], label, &out->last, NULL, NULL);
    }
    if (status == TALUS_OK)
        status = talus_world_step(world, &info);
    if (status == TALUS_OK) {
        out->overlap = info.penetration_mean;
        status = measure(world, bed, out);
    }
    talus_world_destroy(world);
    if (status == TALUS_OK)
        worlds_say(w, "packing: seed %d: fraction %.4f, %.3f contacts, speed %.1e, %.0f products",
                   seed, out->fraction, out->contacts[JUDGED], out->speed, out->last.products);
    return status;
}

/* ---- the table ---- */

static void add_packing(LabTable *t, const char *name, const Packing *p)
{
    lab_table_add(t, "%s", name);
    lab_table_add(t, "%d", p->core);
    lab_table_add(t, "%.4f", p->fraction);
    for (int k = 0; k < SHARES; k++)
        lab_table_add(t, "%.3f", p->contacts[k]);
    lab_table_add(t, "%.1f", 100.0 * p->rattlers);
    lab_table_add(t, "%.1e", p->speed);
    lab_table_add(t, "%.1e", p->overlap);
}

static void report(Worlds *w, const Bed *bed, const Packing *found, int seeds)
{
    static const char *const headings[] = {
        "seed",   "spheres", "fraction",    "contacts, > 1e-2 mean", "> 1e-3",
        "> 1e-4", "> 1e-6",  "rattlers, %", "speed/sqrt(gd)",        "overlap/r"};
    enum { HEADINGS = sizeof headings / sizeof *headings };
    double fraction[SEEDS], contacts[SEEDS];
    LabTable *t = lab_set_table(w->set, "A frictionless packing: its core, by seed", HEADINGS);
    for (int i = 0; i < HEADINGS; i++)
        lab_table_add(t, "%s", headings[i]);
    for (int i = 0; i < seeds; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i + 1);
        add_packing(t, name, &found[i]);
        fraction[i] = found[i].fraction;
        contacts[i] = found[i].contacts[JUDGED];
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
    worlds_judge(w, "packing: contacts per sphere, off 6 by",
                 fabs(worlds_mean(contacts, seeds) / contacts_target - 1.0) * 100.0, 3.0, "%",
                 &found[0].last);
    worlds_judge(w, "packing: fraction, off 0.64 by",
                 fabs(worlds_mean(fraction, seeds) - fraction_target), 0.01, "", &found[0].last);
}

static TalusStatus run_packing(Worlds *w)
{
    Bed bed = {.bodies = worlds_size(w, 3000, 216),
               .side = worlds_size(w, 10, 5),
               .steps = {worlds_size(w, 600, 60), worlds_size(w, 300, 10), worlds_size(w, 60, 5)},
               .spacing = 0.25,
               .margin = w->quick ? 0.2 : 0.5,
               .tolerance = {1e-2, 1e-4, 1e-6}};
    Packing found[SEEDS];
    int seeds = worlds_size(w, SEEDS, 1);
    for (int i = 0; i < seeds; i++)
        TALUS_TRY(settle(w, &bed, i + 1, &found[i]));
    report(w, &bed, found, seeds);
    return TALUS_OK;
}

const WorldsRow worlds_packing = {
    .name = "packing",
    .summary = "a frictionless packing: contacts per sphere and packing fraction",
    .source = "isostatic: 6 contacts (Moukarzel 1998); random close packing: 0.64 (Bernal 1960)",
    .run = run_packing};
