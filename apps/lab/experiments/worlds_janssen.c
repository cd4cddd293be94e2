/* lab/experiments/worlds_janssen.c - load on the bottom of a silo: Janssen's law.
 *
 * Batches of spheres fall into a tall cylinder of radius R (scenes/silo.json). In grains that have just come to rest,
 * wall friction may act up or down, as the impact left it. The law assumes the largest friction, upwards, everywhere;
 * experiments lower the bottom a little to mobilise it (Vanel and Clement 1999). Here the bottom, a plate, sinks after
 * each batch: before each step a plate a little lower replaces it, since a fixed body has no velocity. The load Q of
 * the bottom is a mean over the later part of the descent, because the grains load the plate again when it stops. Least
 * squares fit the loads at the weights W of all spheres by Q = S (1 - exp(-W / S)). With lambda the height of a column
 * of weight S, Janssen's K, the ratio of horizontal and vertical stress, is R / (2 mu lambda). The form of Vanel and
 * Clement is fitted as well, in which a weight A is borne as by a liquid, without the wall: above W = A the load is
 * Q = A + S (1 - exp(-(W - A) / S)), below it Q = W. */
#include "janssen.h"

#include <math.h>
#include <string.h>

enum { LAWS = 2 };

static const TalusFrictionLaw laws[LAWS] = {TALUS_LAW_CCP, TALUS_LAW_COULOMB};
static const double radius = 0.1, mass = 6.28, mu = 0.5,
                    step = 0.005; /* values of scenes/silo.json: m, kg, 1, s */

typedef struct Plate {
    TalusBodyId id;
    int shape, material;
    double z;        /* height, m */
    int probe, wall; /* indices of the probes that measure the forces on plate and wall */
} Plate;

/* ---- the bottom ---- */

/* Writes the index of the scene's probe of this name. */
static TalusStatus find_probe(const TalusWorld *world, const char *name, int *index)
{
    for (*index = 0; *index < talus_world_probe_count(world); ++*index)
        if (strcmp(talus_world_probe_name(world, *index), name) == 0)
            return TALUS_OK;
    return talus_fail(TALUS_ERR_ARGUMENT, "the scene has no probe '%s'", name);
}

/* Adds a fixed plate at plate->z and a probe of the force on it; sets plate->id and plate->probe. */
static TalusStatus add_plate(TalusWorld *world, Plate *plate)
{
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 at = {0.0, 0.0, plate->z};
    batch.count = 1;
    batch.shape = plate->shape;
    batch.material = plate->material;
    batch.fixed = true;
    batch.position = &at;
    TALUS_TRY(talus_world_add_bodies(world, &batch, &plate->id));
    TalusProbeDef probe = {.name = "plate", .kind = TALUS_PROBE_BODY, .body = plate->id};
    return talus_world_add_probe(world, &probe, &plate->probe);
}

/* Replaces the plate by one that is lower by `by`, m. */
static TalusStatus lower_plate(TalusWorld *world, double by, Plate *plate)
{
    TalusBodyId old = plate->id;
    plate->z -= by;
    TALUS_TRY(add_plate(world, plate));
    return talus_world_remove_body(world, old);
}

/* Replaces the scene's plate, its first body, by one at the same height with a new shape, which lower_plate uses. */
static TalusStatus replace_scene_plate(TalusWorld *world, Plate *plate)
{
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusSnapshot s = {0};
    TALUS_TRY(talus_snapshot_take(&s, world, 0));
    *plate = (Plate){.id = s.id[0],
                     .material = talus_world_material_count(world) - 1}; /* the scene's only one */
    talus_snapshot_free(&s);
    TALUS_TRY(find_probe(world, "wall", &plate->wall));
    TALUS_TRY(talus_world_add_shape(world, &plane, &plate->shape));
    return lower_plate(world, 0.0, plate);
}

/* ---- filling ---- */

/* Makes steps and writes the mean downward forces on bottom and wall, N; `bottom` and `wall` may be NULL. Updates
 * fill->worst. */
static TalusStatus step_and_average(const Worlds *w, TalusWorld *world, const Plate *plate,
                                    int steps, SiloFill *fill, double *bottom, double *wall)
{
    double sums[2] = {0.0, 0.0};
    for (int i = 0; i < steps; i++) {
        TalusStepInfo info;
        TALUS_TRY(talus_world_step(world, &info));
        TALUS_TRY(worlds_check_stop(w));
        sums[0] -= talus_world_probe_value(world, plate->probe).force.z / steps;
        sums[1] -= talus_world_probe_value(world, plate->wall).force.z / steps;
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

/* Writes the height of the column, m: twice the mean of z - bottom over all spheres, as for uniform density; 0 without
 * spheres. */
static TalusStatus find_column_height(const TalusWorld *world, double bottom, double *height)
{
    TalusSnapshot s = {0};
    double sum = 0.0;
    int moving = 0;
    TALUS_TRY(talus_snapshot_take(&s, world, 0));
    for (int i = 0; i < s.body_count; i++) {
        moving += !s.fixed[i];
        sum += s.fixed[i] ? 0.0 : s.position[i].z - bottom;
    }
    *height = moving > 0 ? 2.0 * sum / moving : 0.0;
    talus_snapshot_free(&s);
    return TALUS_OK;
}

/* Lowers the plate before each of silo->sink_steps steps; adds to load->bottom and load->wall the mean forces over the
 * last three fifths of them, N. */
static TalusStatus sink_plate(const Worlds *w, TalusWorld *world, const Silo *silo, Plate *plate,
                              SiloFill *fill, SiloLoad *load)
{
    int from = silo->sink_steps * 2 / 5, count = silo->sink_steps - from;
    for (int i = 0; i < silo->sink_steps; i++) {
        double bottom, wall;
        TALUS_TRY(lower_plate(world, silo->descent, plate));
        TALUS_TRY(step_and_average(w, world, plate, 1, fill, &bottom, &wall));
        load->bottom += i >= from ? bottom / count : 0.0;
        load->wall += i >= from ? wall / count : 0.0;
    }
    return TALUS_OK;
}

/* Makes steps while the next batch of the scene falls, then lowers the plate and records the loads. */
static TalusStatus add_batch(const Worlds *w, TalusWorld *world, const Silo *silo, Plate *plate,
                             SiloFill *fill)
{
    double weight = silo->batch * mass * talus_norm(talus_world_gravity(world));
    SiloLoad *load = &fill->load[fill->count++];
    load->weight = fill->count;
    TALUS_TRY(step_and_average(w, world, plate, silo->settle_steps, fill, NULL, NULL));
    TALUS_TRY(step_and_average(w, world, plate, silo->average_steps, fill, &load->before, NULL));
    TALUS_TRY(sink_plate(w, world, silo, plate, fill, load));
    TALUS_TRY(step_and_average(w, world, plate, silo->average_steps, fill, &load->after, NULL));
    TALUS_TRY(find_column_height(world, plate->z, &load->height));
    load->before /= weight;
    load->bottom /= weight;
    load->after /= weight;
    load->wall /= weight;
    load->height /= silo->radius;
    worlds_print_line(w,
                      "janssen: %d batches: the bottom bears %.3f of them; %.3f before, %.3f after",
                      fill->count, load->bottom, load->before, load->after);
    return TALUS_OK;
}

/* ---- the fit ---- */

/* Returns the load Q of the bottom by the fit with A = `free_weight` and S = `saturation`. */
static double predict_load(double weight, double free_weight, double saturation)
{
    double held = fmax(weight - free_weight, 0.0);
    return weight - held + saturation * (1.0 - exp(-held / saturation));
}

/* Returns the sum of squared differences between the fit and the measured loads of the bottom. */
static double find_misfit(const SiloFill *fill, double free_weight, double saturation)
{
    double sum = 0.0;
    for (int i = 0; i < fill->count; i++) {
        double off =
            fill->load[i].bottom - predict_load(fill->load[i].weight, free_weight, saturation);
        sum += off * off;
    }
    return sum;
}

/* Finds the S of least misfit for A = `free_weight` by golden section in log S, from 1/20 of a batch to 1000
 * batches. */
static double fit_saturation(const SiloFill *fill, double free_weight)
{
    static const double golden = 0.6180339887498949;
    double low = log(0.05), high = log(1000.0);
    for (int i = 0; i < 80; i++) {
        double a = high - golden * (high - low), b = low + golden * (high - low);
        if (find_misfit(fill, free_weight, exp(a)) < find_misfit(fill, free_weight, exp(b)))
            high = b;
        else
            low = a;
    }
    return exp(0.5 * (low + high));
}

/* Fits S with A = 0 or, with two `parameters`, A and S; tries A in steps of a hundredth of a batch's weight up to one
 * batch. */
static SiloLaw fit_law(const SiloFill *fill, int parameters)
{
    const SiloLoad *last = &fill->load[fill->count - 1];
    SiloLaw law = {.saturation = fit_saturation(fill, 0.0)};
    for (int i = 1; parameters > 1 && i <= 100; i++) {
        double free_weight = 0.01 * i, saturation = fit_saturation(fill, free_weight);
        if (find_misfit(fill, free_weight, saturation) <
            find_misfit(fill, law.free_weight, law.saturation)) {
            law.free_weight = free_weight;
            law.saturation = saturation;
        }
    }
    int over = fill->count > parameters ? fill->count - parameters : 1;
    law.scatter = sqrt(find_misfit(fill, law.free_weight, law.saturation) / over) /
                  (law.free_weight + law.saturation);
    law.lambda = law.saturation * last->height / last->weight;
    law.k = 1.0 / (2.0 * mu * law.lambda);
    return law;
}

/* ---- the whole ---- */

TalusStatus janssen_fill(const Worlds *w, const Silo *silo, const WorldsAssignments *sets,
                         SiloFill *fill)
{
    WorldsCase c = {.scene = "silo", .backend = w->backend[0], .sets = *sets};
    TalusWorld *world;
    Plate plate;
    int pause = silo->settle_steps + 2 * silo->average_steps + silo->sink_steps;
    *fill = (SiloFill){0};
    worlds_assign(&c.sets, "batch=%d", silo->batch);
    worlds_assign(&c.sets, "silo=%.17g", silo->radius);
    worlds_assign(&c.sets, "pause=%.17g", pause * step);
    TALUS_TRY(worlds_build(w, &c, &world));
    TalusStatus status = replace_scene_plate(world, &plate);
    TALUS_THEN(status, talus_world_set_accuracy(world, 1e-2, 2000));
    while (status == TALUS_OK && fill->count < silo->batches)
        status = add_batch(w, world, silo, &plate, fill);
    talus_world_destroy(world);
    TALUS_TRY(status);
    fill->plain = fit_law(fill, 1);
    fill->with_free = fit_law(fill, 2);
    return TALUS_OK;
}

/* ---- the table ---- */

static void add_load_row(LabTable *t, TalusFrictionLaw law, const SiloFill *fill,
                         const SiloLoad *load)
{
    lab_table_add_cells(
        t, "%s\t%.2f\t%g\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f", talus_law_name(law), load->height,
        load->weight, load->before, load->bottom,
        predict_load(load->weight, 0.0, fill->plain.saturation),
        predict_load(load->weight, fill->with_free.free_weight, fill->with_free.saturation),
        load->wall, load->after);
}

static void add_verdicts(Worlds *w, TalusFrictionLaw law, const SiloFill *fill)
{
    const char *name = talus_law_name(law);
    const SiloLoad *last = &fill->load[fill->count - 1];
    worlds_add_verdict(w, 100.0 * fill->plain.scatter, 5.0, "%", &fill->worst,
                       "janssen, %s: scatter about the law, over its limit", name);
    worlds_add_verdict(w, 100.0 * fill->with_free.scatter, 5.0, "%", &fill->worst,
                       "janssen, %s: the same with a part borne freely", name);
    worlds_add_verdict(w, last->bottom / last->weight, 0.5, "", &fill->worst,
                       "janssen, %s: load of the fullest silo over its weight", name);
}

static void add_fit_table(Worlds *w, const SiloFill fill[LAWS])
{
    LabTable *t = lab_set_add_table(w->set, "Janssen: the fits",
                                    "law\tfit\tA, batches\tS, batches\tlambda/R\tK\tscatter, %");
    for (int i = 0; i < 2 * LAWS; i++) {
        const SiloLaw *law = i % 2 ? &fill[i / 2].with_free : &fill[i / 2].plain;
        lab_table_add_cells(t, "%s\t%s\t%.2f\t%.3f\t%.2f\t%.2f\t%.1f", talus_law_name(laws[i / 2]),
                            i % 2 ? "with A" : "Janssen", law->free_weight, law->saturation,
                            law->lambda, law->k, 100.0 * law->scatter);
    }
}

/* Adds tables of loads and fits, and the verdicts. */
static void add_tables_and_verdicts(Worlds *w, const Silo *silo, const SiloFill fill[LAWS])
{
    LabTable *t =
        lab_set_add_table(w->set, "Janssen: loads of a silo, in weights of a batch",
                          "law\theight/R\tweight\tbottom, before\tbottom\tJanssen\twith A\t"
                          "wall\tbottom, after");
    for (int law = 0; law < LAWS; law++) {
        for (int i = 0; i < fill[law].count; i++)
            add_load_row(t, laws[law], &fill[law], &fill[law].load[i]);
        add_verdicts(w, laws[law], &fill[law]);
    }
    snprintf(
        t->note, sizeof t->note,
        "Batches of %d spheres, mu %g, R = %g diameters; after each batch the bottom sinks by %g "
        "diameters in %d steps: bottom and wall are means of the later ones, before and after of "
        "steps at rest. Backend %s.",
        silo->batch, mu, 0.5 * silo->radius / radius,
        0.5 * silo->descent * silo->sink_steps / radius, silo->sink_steps, w->backend[0]);
    add_fit_table(w, fill);
}

static TalusStatus run_janssen(Worlds *w)
{
    Silo silo = {.batch = worlds_choose_size(w, 480, 30),
                 .batches = worlds_choose_size(w, 6, 2),
                 .radius = w->quick ? 0.35 : 1.0,
                 .descent = 2e-4,
                 .settle_steps = worlds_choose_size(w, 160, 120),
                 .sink_steps = worlds_choose_size(w, 120, 40),
                 .average_steps = worlds_choose_size(w, 20, 5)};
    SiloFill fill[LAWS];
    for (int law = 0; law < LAWS; law++) {
        WorldsAssignments sets = {0};
        worlds_assign(&sets, "law=%s", talus_law_name(laws[law]));
        TALUS_TRY(janssen_fill(w, &silo, &sets, &fill[law]));
    }
    add_tables_and_verdicts(w, &silo, fill);
    return TALUS_OK;
}

const WorldsRow worlds_janssen = {.name = "janssen",
                                  .summary = "the load of a silo's bottom against its filling",
                                  .source = "Janssen 1895: Q = S (1 - exp(-W/S))",
                                  .run = run_janssen};
