/* world/compliance.c - the compliance of contacts: TalusWorldDef.compliance, and what TALUS_COMPLIANCE_AUTO means.
 *
 * A contact under load stores elastic energy. If its stiffness rose tenfold within one step, that energy would rise
 * tenfold too and throw a bed at rest apart. The automatic compliance, which depends on tolerance and masses, therefore
 * follows these by at most 1 % per step. It changes at once where no contact stores energy, and where it is so small
 * that rigid contacts have nearly the same overlap. */
#include "world/compliance.h"
#include "world/state.h"

#include "base/sum.h"
#include "world/step/wake.h"

#include <math.h>

/* ---- masses ---- */

/* True if world->masses are those of the present bodies: none was added or removed since. */
static bool masses_known(const TalusWorld *world)
{
    return world->bodies.counts.created == world->mass_created &&
           talus_world_living(world) == world->mass_living;
}

static TalusMasses sum_masses(const TalusWorld *world)
{
    TalusMasses masses = {.least = INFINITY};
    TalusSum sum = {0}; /* the same whatever the slots of bodies */
    for (int i = 0; i < world->bodies.counts.slots; i++) {
        if (!talus_slot_is_dynamic(&world->bodies, i))
            continue;
        double mass = world->bodies.mass[i];
        talus_sum_add(&sum, &mass, 1);
        masses.least = fmin(masses.least, mass);
        masses.largest = fmax(masses.largest, mass);
    }
    talus_comm_add_sums(world->ranks.comm, &sum, 1);
    talus_comm_find_minima(world->ranks.comm, &masses.least, 1);
    talus_comm_find_maxima(world->ranks.comm, &masses.largest, 1);
    masses.sum = talus_sum_value(&sum);
    return masses;
}

static TalusMasses present_masses(const TalusWorld *world)
{
    return masses_known(world) ? world->masses : sum_masses(world);
}

/* ---- the automatic compliance ---- */

/* The compliance is in proportion to tolerances below 1e-3: at loose tolerances the error of a solve exceeds elastic
 * overlap by far, and a user who asks for tight ones, as for an arch close to its limit of stability, needs stiff
 * contacts too. It is 0 for very uneven masses: contacts below very heavy bodies harden so much that a step has to find
 * its compliances by several solves, and rigid contacts are easier to solve. */
static double target_compliance(const TalusMasses *masses, double tolerance)
{
    const double largest = TALUS_COMPLIANCE_AUTO_LARGEST, tight = 1e-3, uneven = 1e6;
    if (masses->largest > uneven * masses->least)
        return 0.0;
    return tolerance > 0.0 ? largest * fmin(1.0, tolerance / tight) : largest;
}

double talus_auto_compliance(const TalusWorld *world, double tolerance)
{
    TalusMasses masses = present_masses(world);
    return target_compliance(&masses, tolerance);
}

/* Returns the compliance from which on contacts may become rigid at once, and stop being rigid: their elastic overlap
 * is at most 1e-4 g h^2 under each other's weight, and under the heaviest body's if the lightest bears it. */
static double nearly_rigid(const TalusMasses *masses)
{
    const double even = 1e-4;
    return masses->largest > 0.0 ? even * (masses->least / masses->largest) : even;
}

/* Returns `last` moved towards `target` by at most a factor of 1.01, or at once where both are at most `rigid`. */
static double follow_compliance(double last, double target, double rigid)
{
    const double factor = 1.01;
    if (target < last)
        return fmax(target, last > rigid ? last / factor : 0.0);
    return fmin(target, fmax(factor * last, rigid));
}

double talus_target_compliance(const TalusWorld *world)
{
    const TalusWorldDef *def = &world->def;
    return def->compliance == TALUS_COMPLIANCE_AUTO ? talus_auto_compliance(world, def->tolerance)
                                                    : def->compliance;
}

double talus_world_compliance(const TalusWorld *world)
{
    const TalusWorldDef *def = &world->def;
    if (def->compliance != TALUS_COMPLIANCE_AUTO)
        return def->compliance;
    TalusMasses masses = present_masses(world);
    double last = world->last_compliance, target = target_compliance(&masses, def->tolerance);
    return last < 0.0 ? target : follow_compliance(last, target, nearly_rigid(&masses));
}

bool talus_compliance_changes(const TalusWorld *world)
{
    return world->last_compliance >= 0.0 && talus_world_compliance(world) != world->last_compliance;
}

/* ---- steps ---- */

void talus_compliance_update_masses(TalusWorld *world)
{
    if (masses_known(world))
        return;
    world->masses = sum_masses(world);
    world->mass_created = world->bodies.counts.created;
    world->mass_living = talus_world_living(world);
}

void talus_compliance_begin_part(TalusWorld *world)
{
    talus_compliance_update_masses(world);
    world->compliance = talus_world_compliance(world);
    if (talus_compliance_changes(world))
        talus_wake_all(world);
}

/* Without contacts nothing stores energy, and the next step may have any compliance. */
void talus_compliance_finish_step(TalusWorld *world)
{
    bool stores = world->contact_count > 0 || talus_any_asleep(world);
    world->last_compliance = stores ? world->compliance : -1.0;
}

void talus_compliance_rollback(TalusWorld *world)
{
    world->mass_living = -1;
}
