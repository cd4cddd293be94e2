/* lab/validate/packings.c - spheres that settle under their weight: how densely, and on how many neighbours.
 *
 * 500 spheres of radii +-10 % rain from a loose lattice onto a floor, in a box that is periodic along x and y and so has no
 * walls. Measured is a layer away from the floor and from the surface. A contact counts if its force exceeds a thousandth of
 * the mean; a rattler has fewer than 4 such neighbours without friction, fewer than 2 with it (talus/measure.h). */
#include "flow.h"

#include <math.h>

/* clang-format off */
static const char scene[] = FLOW_SCENE({
    "params": {"d": 0.01, "g": 9.81, "h": 0.001, "mu": 0.5, "wide": 1, "side": "=7*d*wide"},
    "step": "=h", "gravity": [0, 0, "=-g"],
    "period": {"x": [0, "=side"], "y": [0, "=side"]},
    "materials": {"grain": {"friction": "=mu", "density": 2500}},
    "bodies": [
        {"shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"radius": {"mean": "=d/2", "spread": 0.1}, "count": 500,
         "lattice": {"cells": [6, 6, 0], "spacing": "=side/6", "jitter": 0.9}}
    ]
});
/* clang-format on */

/* Forgets contacts whose force is below a thousandth of the mean. */
static void drop_weak_contacts(TalusAssembly *a)
{
    double sum = 0.0;
    int loaded = 0;
    for (int i = 0; i < a->contact_count; i++) {
        const double force = talus_dot(a->contact[i].force, a->contact[i].normal);
        sum += force > 0.0 ? force : 0.0;
        loaded += force > 0.0;
    }
    for (int i = 0; i < a->contact_count; i++)
        if (!(talus_dot(a->contact[i].force, a->contact[i].normal) > 1e-3 * sum / loaded))
            a->contact[i].force = talus_vec3(0.0, 0.0, 0.0);
}

/* Measures the layer from 2.2 d above the floor to 2.2 d below the surface. */
static TalusStatus measure_layer(const Flow *flow, double side, bool smooth, double *found)
{
    FlowState state = {0};
    TalusVec3 mean, velocity;
    double mass;
    TalusBulk bulk;
    TALUS_TRY(flow_find_mean(flow, &mean, &velocity, &mass));
    TalusBulkDef def = talus_bulk_def_default();
    def.region = (TalusRegion){.lo = {0.0, 0.0, 2.2 * flow_d},
                               .hi = {side, side, 2.0 * mean.z - 2.2 * flow_d},
                               .axis = -1};
    def.rattler_contacts = smooth ? 4 : 2;
    TalusStatus status = flow_take(flow, &state);
    if (status == TALUS_OK)
        drop_weak_contacts(&state.assembly);
    TALUS_THEN(status, talus_bulk_measure(&state.assembly, &def, &bulk));
    if (status == TALUS_OK) {
        found[0] = talus_packing_fraction(&state.assembly, &def.region);
        found[1] = bulk.backbone;
    }
    flow_clear(&state);
    return status;
}

/* Lets the spheres settle in 40 sqrt(d/g), the last 5 of them to a tight tolerance. */
static TalusStatus measure_packing(const ValidateSetup *setup, double mu, double *found)
{
    Flow flow;
    TalusStatus status = flow_begin(setup, scene, mu, NULL, &flow);
    TALUS_THEN(status, flow_advance(&flow, 35.0));
    TALUS_THEN(status, flow_check(&flow));
    TALUS_THEN(status, talus_world_set_accuracy(flow.world, mu > 0.0 ? 1e-3 : 1e-4, 2000));
    TALUS_THEN(status, flow_advance(&flow, 5.0));
    TALUS_THEN(status,
               measure_layer(&flow, 7.0 * flow_d * (1.0 + setup->widening), mu == 0.0, found));
    flow_end(&flow);
    return status;
}

static void expect_packing(double fraction, double fraction_bound, double contacts,
                           double contacts_bound, ValidateQuantity *q)
{
    q[0] = (ValidateQuantity){
        .name = "solid fraction", .unit = "", .expected = fraction, .bound = fraction_bound};
    q[1] = (ValidateQuantity){.name = "neighbours, without rattlers",
                              .unit = "",
                              .expected = contacts,
                              .bound = contacts_bound};
}

static void expect_mu0(double h, ValidateQuantity *q)
{
    (void)h;
    expect_packing(0.64, 0.01, 6.0, 0.2, q);
}

static TalusStatus measure_mu0(const ValidateSetup *setup, double *found)
{
    return measure_packing(setup, 0.0, found);
}

static void expect_mu03(double h, ValidateQuantity *q)
{
    (void)h;
    expect_packing(0.595, 0.02, 4.8, 0.3, q);
}

static TalusStatus measure_mu03(const ValidateSetup *setup, double *found)
{
    return measure_packing(setup, 0.3, found);
}

static void expect_mu1(double h, ValidateQuantity *q)
{
    (void)h;
    expect_packing(0.565, 0.02, 4.3, 0.3, q);
}

static TalusStatus measure_mu1(const ValidateSetup *setup, double *found)
{
    return measure_packing(setup, 1.0, found);
}

static void expect_mu10(double h, ValidateQuantity *q)
{
    (void)h;
    expect_packing(0.555, 0.02, 4.15, 0.3, q);
    q[0].relaxed_fails =
        "the relaxation opens contacts that slide, and grains of friction 10 come to "
        "rest more loosely than random loose packing";
}

static TalusStatus measure_mu10(const ValidateSetup *setup, double *found)
{
    return measure_packing(setup, 10.0, found);
}

#define LOOSE                                                                                     \
    "between random close and random loose packing, 0.64 to 0.55 (Onoda and Liniger 1990, Phys. " \
    "Rev. Lett. 64, 2727; Silbert 2010, Soft Matter 6, 2918), and between 6 and 4 neighbours, "   \
    "those of force balance without and with friction"
#define LOOSE_REASON                                                                       \
    "0.02 and 0.3: how grains are poured matters as much; figures of another pouring, in " \
    "docs/explanation/default-law.md, were known"

const ValidateCase validate_packings[] = {
    {.name = "packing-mu0",
     .shows = "settled spheres without friction: random close packing, isostatic",
     .source = "0.64 (Bernal and Mason 1960, Nature 188, 910); 6 neighbours, as many contacts as "
               "equations of force balance (Moukarzel 1998, Phys. Rev. Lett. 81, 1634)",
     .reason = "0.01: scatter of poured packings; 0.2: elastic overlap adds neighbours",
     .step = FLOW_STEP,
     .coulomb_alone = true,
     .slow = true,
     .seeds = 2,
     .quantities = 2,
     .expect = expect_mu0,
     .measure = measure_mu0},
    {.name = "packing-mu0.3",
     .shows = "settled spheres with friction 0.3",
     .source = LOOSE,
     .reason = LOOSE_REASON,
     .step = FLOW_STEP,
     .slow = true,
     .seeds = 2,
     .quantities = 2,
     .expect = expect_mu03,
     .measure = measure_mu03},
    {.name = "packing-mu1",
     .shows = "settled spheres with friction 1",
     .source = LOOSE,
     .reason = LOOSE_REASON,
     .step = FLOW_STEP,
     .slow = true,
     .seeds = 2,
     .quantities = 2,
     .expect = expect_mu1,
     .measure = measure_mu1},
    {.name = "packing-mu10",
     .shows = "settled spheres with friction 10: random loose packing",
     .source = LOOSE,
     .reason = LOOSE_REASON,
     .step = FLOW_STEP,
     .ccp_alone = true,
     .slow = true,
     .seeds = 2,
     .quantities = 2,
     .expect = expect_mu10,
     .measure = measure_mu10}};
const int validate_packings_count = LAB_COUNT(validate_packings);
