/* worlds_janssen.c - what the bottom of a silo bears: Janssen's law.
 *
 * Batches of spheres fall into a tall cylinder (scenes/silo.json). Rigid grains that have just come to rest
 * bear whatever their impact left between them, with the wall's friction up or down: the law is about
 * friction that is mobilised upwards everywhere, and experiments lower the bottom a little for it (Vanel and
 * Clement 1999). Here the bottom is a pile of thin sheets, planes a small part of a diameter apart, and
 * after each batch the uppermost are pulled away one by one. Then the load of the bottom is taken, a mean
 * over steps. Least squares fit the loads Q at the weights W by Q = S (1 - exp(-W / S)); with S the weight of
 * a column of the height lambda, Janssen's K is R / (2 mu lambda). */
#include "worlds.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { BATCHES = 8, SHEETS = 10, PILE = BATCHES * SHEETS, LAWS = 2 };

static const TalusFrictionLaw laws[LAWS] = {TALUS_LAW_CCP, TALUS_LAW_COULOMB};
static const double radius = 0.1, mass = 6.28, mu = 0.5,
                    step = 0.005; /* as scenes/silo.json has them */

typedef struct Silo {
    int batch, batches;       /* spheres; how many of the scene's batches */
    double silo, sheet;       /* radius; thickness */
    int settle, pulled, last; /* steps: of a batch, after a sheet, that the mean is over */
} Silo;

/* Over the weight of a batch. */
typedef struct Load {
    double weight, before, bottom, wall; /* before: with the sheets still there */
    double height;                       /* of the column, over R */
} Load;

typedef struct Fill {
    Load load[BATCHES];
    int count;
    double saturation, scatter; /* S; rms of what the fit leaves, over S */
    double lambda, k;           /* lambda over R */
    WorldsStep worst;
} Fill;

/* The sheets, lowest first; the probes of bottom and wall. */
typedef struct Pile {
    TalusBodyId id[PILE];
    int probe[PILE], left, all;
    int plate, wall;
} Pile;

/* ---- the bottom ---- */

static int find_probe(const TalusWorld *world, const char *name)
{
    for (int i = 0; i < talus_world_probe_count(world); i++)
        if (strcmp(talus_world_probe_name(world, i), name) == 0)
            return i;
    return 0;
}

/* On the scene's plate. */
static TalusStatus lay_sheets(TalusWorld *world, const Silo *silo, Pile *pile)
{
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusBodyBatch sheets = talus_body_batch_default();
    TalusVec3 at[PILE];
    *pile = (Pile){.all = silo->batches * SHEETS,
                   .plate = find_probe(world, "plate"),
                   .wall = find_probe(world, "wall")};
    pile->left = pile->all;
    for (int i = 0; i < pile->all; i++)
        at[i] = (TalusVec3){0.0, 0.0, (i + 1) * silo->sheet};
    TALUS_TRY(talus_world_add_shape(world, &plane, &sheets.shape));
    sheets.count = pile->all;
    sheets.material = talus_world_material_count(world) - 1; /* the scene has one */
    sheets.fixed = true;
    sheets.position = at;
    TALUS_TRY(talus_world_add_bodies(world, &sheets, pile->id));
    for (int i = 0; i < pile->all; i++) {
        TalusProbeDef probe = {.name = "sheet", .kind = TALUS_PROBE_BODY, .body = pile->id[i]};
        TALUS_TRY(talus_world_add_probe(world, &probe, &pile->probe[i]));
    }
    return TALUS_OK;
}

/* What plate and sheets bear, N. */
static double bottom_load(const TalusWorld *world, const Pile *pile)
{
    double load = -talus_world_probe_value(world, pile->plate).force.z;
    for (int i = 0; i < pile->left; i++)
        load -= talus_world_probe_value(world, pile->probe[i]).force.z;
    return load;
}

/* ---- filling ---- */

/* Means of the loads over the steps; these may be NULL. */
static TalusStatus advance(const Worlds *w, TalusWorld *world, const Pile *pile, int steps,
                           Fill *fill, double *bottom, double *wall)
{
    double sums[2] = {0.0, 0.0};
    for (int i = 0; i < steps; i++) {
        TalusStepInfo info;
        TALUS_TRY(talus_world_step(world, &info));
        TALUS_TRY(worlds_stopped(w));
        sums[0] += bottom_load(world, pile) / steps;
        sums[1] -= talus_world_probe_value(world, pile->wall).force.z / steps;
        fill->worst.rms = fmax(fill->worst.rms, info.solve.residual.rms);
        fill->worst.relative =
            fmax(fill->worst.relative, info.solve.residual.rms / info.reference_speed);
    }
    if (bottom)
        *bottom = sums[0];
    if (wall)
        *wall = sums[1];
    return TALUS_OK;
}

/* Twice the mean height of the spheres: that of the column, where it is as dense everywhere. */
static TalusStatus column_height(const TalusWorld *world, double *height)
{
    int n = talus_world_body_count(world), count = 0;
    TalusBodyState state = {0};
    TalusStatus status = TALUS_ALLOC(state.position, (size_t)n, "positions");
    if (status == TALUS_OK)
        status = TALUS_ALLOC(state.fixed, (size_t)n, "positions");
    *height = 0.0;
    if (status == TALUS_OK) {
        talus_world_get_state(world, &state);
        for (int i = 0; i < n; i++)
            if (!state.fixed[i]) {
                *height += 2.0 * state.position[i].z;
                count++;
            }
        *height /= count > 0 ? count : 1;
    }
    talus_release(state.position);
    talus_release(state.fixed);
    return status;
}

/* One batch, which the scene lets fall; then the sheets, and the load. */
static TalusStatus add_batch(const Worlds *w, TalusWorld *world, const Silo *silo, Pile *pile,
                             Fill *fill)
{
    double one = silo->batch * mass * talus_norm(talus_world_gravity(world));
    Load *load = &fill->load[fill->count++];
    load->weight = fill->count;
    TALUS_TRY(talus_world_set_accuracy(world, 1e-2, 2000));
    TALUS_TRY(advance(w, world, pile, silo->settle, fill, NULL, NULL));
    TALUS_TRY(advance(w, world, pile, silo->last, fill, &load->before, NULL));
    for (int i = 0; i < SHEETS; i++) {
        TALUS_TRY(talus_world_remove_body(world, pile->id[--pile->left]));
        TALUS_TRY(advance(w, world, pile, silo->pulled, fill, NULL, NULL));
    }
    TALUS_TRY(talus_world_set_accuracy(world, 1e-3, 5000));
    TALUS_TRY(advance(w, world, pile, silo->last, fill, &load->bottom, &load->wall));
    TALUS_TRY(column_height(world, &load->height));
    load->before /= one;
    load->bottom /= one;
    load->wall /= one;
    load->height /= silo->silo;
    worlds_say(w, "janssen: %d batches: the bottom bears %.3f of them, %.3f before", fill->count,
               load->bottom, load->before);
    return TALUS_OK;
}

static TalusStatus fill_silo(const Worlds *w, const Silo *silo, TalusFrictionLaw law, Fill *fill)
{
    WorldsCase c = {.scene = "silo", .backend = w->backend[0]};
    TalusWorld *world;
    Pile pile;
    int pause = silo->settle + 2 * silo->last + SHEETS * silo->pulled;
    *fill = (Fill){0};
    worlds_set(&c.sets, "batch=%d", silo->batch);
    worlds_set(&c.sets, "silo=%.17g", silo->silo);
    worlds_set(&c.sets, "pause=%.17g", pause * step);
    worlds_set(&c.sets, "gap=%.17g", radius + PILE * silo->sheet);
    worlds_set(&c.sets, "law=%s", talus_law_name(law));
    TALUS_TRY(worlds_open(w, &c, &world));
    TalusStatus status = lay_sheets(world, silo, &pile);
    while (status == TALUS_OK && fill->count < silo->batches)
        status = add_batch(w, world, silo, &pile, fill);
    talus_world_destroy(world);
    return status;
}

/* ---- the fit ---- */

static double law_of(double weight, double saturation)
{
    return saturation * (1.0 - exp(-weight / saturation));
}

static double misfit(const Fill *fill, double saturation)
{
    double sum = 0.0;
    for (int i = 0; i < fill->count; i++) {
        double off = fill->load[i].bottom - law_of(fill->load[i].weight, saturation);
        sum += off * off;
    }
    return sum;
}

/* S by golden section in its logarithm, from a twentieth of a batch to a thousand. */
static void fit(Fill *fill)
{
    static const double golden = 0.6180339887498949;
    double low = log(0.05), high = log(1000.0);
    for (int i = 0; i < 80; i++) {
        double a = high - golden * (high - low), b = low + golden * (high - low);
        if (misfit(fill, exp(a)) < misfit(fill, exp(b)))
            high = b;
        else
            low = a;
    }
    const Load *last = &fill->load[fill->count - 1];
    fill->saturation = exp(0.5 * (low + high));
    fill->scatter = sqrt(misfit(fill, fill->saturation) / (fill->count > 1 ? fill->count - 1 : 1)) /
                    fill->saturation;
    fill->lambda = fill->saturation * last->height / last->weight;
    fill->k = 1.0 / (2.0 * mu * fill->lambda);
}

/* ---- the table ---- */

static void add_load(LabTable *t, TalusFrictionLaw law, const Fill *fill, const Load *load)
{
    lab_table_add(t, "%s", talus_law_name(law));
    lab_table_add(t, "%.2f", load->height);
    lab_table_add(t, "%g", load->weight);
    lab_table_add(t, "%.3f", load->before);
    lab_table_add(t, "%.3f", load->bottom);
    lab_table_add(t, "%.3f", law_of(load->weight, fill->saturation));
    lab_table_add(t, "%.3f", load->wall);
}

static void judge(Worlds *w, TalusFrictionLaw law, const Fill *fill)
{
    const Load *last = &fill->load[fill->count - 1];
    char what[LAB_TEXT];
    snprintf(what, sizeof what, "janssen, %s: scatter about the law, over its limit",
             talus_law_name(law));
    worlds_judge(w, what, 100.0 * fill->scatter, 5.0, "%", &fill->worst);
    snprintf(what, sizeof what, "janssen, %s: load of the fullest silo over its weight",
             talus_law_name(law));
    worlds_judge(w, what, last->bottom / last->weight, 0.5, "", &fill->worst);
}

static void report(Worlds *w, const Silo *silo, const Fill fill[LAWS])
{
    static const char *const headings[] = {"law",    "height/R",  "weight", "bottom, before",
                                           "bottom", "the law's", "wall"};
    enum { HEADINGS = sizeof headings / sizeof *headings };
    LabTable *t =
        lab_set_table(w->set, "Janssen: loads of a silo, in weights of a batch", HEADINGS);
    for (int i = 0; i < HEADINGS; i++)
        lab_table_add(t, "%s", headings[i]);
    for (int law = 0; law < LAWS; law++) {
        for (int i = 0; i < fill[law].count; i++)
            add_load(t, laws[law], &fill[law], &fill[law].load[i]);
        judge(w, laws[law], &fill[law]);
    }
    snprintf(
        t->note, sizeof t->note,
        "Q = S (1 - exp(-W/S)): under ccp S = %.3f batches, lambda = %.2f R, K = %.2f, scatter "
        "%.1f %% of S; under coulomb %.3f, %.2f R, %.2f, %.1f %%. Batches of %d spheres, mu %g, "
        "R = %g diameters; %d sheets of %g diameters are pulled from below after each batch. "
        "Before: the load ahead of that. Backend %s.",
        fill[0].saturation, fill[0].lambda, fill[0].k, 100.0 * fill[0].scatter, fill[1].saturation,
        fill[1].lambda, fill[1].k, 100.0 * fill[1].scatter, silo->batch, mu,
        0.5 * silo->silo / radius, SHEETS, 0.5 * silo->sheet / radius, w->backend[0]);
}

static TalusStatus run_janssen(Worlds *w)
{
    Silo silo = {.batch = worlds_size(w, 480, 30),
                 .batches = worlds_size(w, 6, 2),
                 .silo = w->quick ? 0.35 : 1.0,
                 .sheet = 0.004,
                 .settle = worlds_size(w, 160, 120),
                 .pulled = worlds_size(w, 15, 8),
                 .last = worlds_size(w, 20, 5)};
    Fill fill[LAWS];
    for (int law = 0; law < LAWS; law++) {
        TALUS_TRY(fill_silo(w, &silo, laws[law], &fill[law]));
        fit(&fill[law]);
    }
    report(w, &silo, fill);
    return TALUS_OK;
}

const WorldsRow worlds_janssen = {.name = "janssen",
                                  .summary = "the load of a silo's bottom against its filling",
                                  .source = "Janssen 1895: Q = S (1 - exp(-W/S))",
                                  .run = run_janssen};
