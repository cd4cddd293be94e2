/* lab/validate/silos.c - a silo of spheres: its discharge through a flat bottom (Beverloo) and through a cone (Rose and Tanaka),
 * and the load on its bottom (Janssen). */
#include "flow.h"

#include <math.h>

/* ---- discharge ----
 *
 * Spheres rest in a silo of 15 d: 2,800 with friction 0.2, as of glass, on a plate, or 2,000 with friction 0.5 in a cone with a
 * half angle of 30 degrees, whose tip is closed. Plate or cone are exchanged for a flat bottom with an orifice or a truncated
 * cone, and a plane below it counts the mass that leaves, from 4 sqrt(d/g) until a third of the grains have left or 40
 * sqrt(d/g) have passed.
 * All four orifices start from one settled state.
 *
 * Beverloo's law, W = C rho sqrt(g) (D - k d)^(5/2), is judged twice: C at a fixed k, and whether it fits at all, with C and k
 * free: W^(2/5) is linear in D, so chi^2 has two degrees of freedom; the error of a rate is that of its mean over intervals of
 * 2 sqrt(d/g). */

/* clang-format off */
static const char discharge_scene[] = FLOW_SCENE({
    "params": {"d": 0.01, "g": 9.81, "h": 0.001, "mu": 0.5, "wide": 1, "silo": "=7.5*d"},
    "step": "=h", "gravity": [0, 0, "=-g"],
    "materials": {"grain": {"friction": "=mu", "density": 2500}},
    "bodies": [
        {"name": "plate", "shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"name": "wall", "shape": {"kind": "revolve", "profile": [["=silo", "=-d"], ["=silo", "=60*d"]]}, "at": [0, 0, 0]},
        {"radius": {"mean": "=d/2", "spread": 0.1}, "count": 2800,
         "layers": {"bottom": [0, 0, "=0.6*d"], "radius": "=silo", "spacing": "=1.15*d", "jitter": 0.9}}
    ],
    "probes": [{"name": "outlet", "plane": {"at": [0, 0, "=-d"], "normal": [0, 0, -1]}}],
    "sinks": [{"below": "=-12*d"}]
});
/* clang-format on */

/* clang-format off */
static const char cone_scene[] = FLOW_SCENE({
    "params": {"d": 0.01, "g": 9.81, "h": 0.001, "mu": 0.5, "wide": 1, "silo": "=7.5*d", "steepness": 1.7320508},
    "step": "=h", "gravity": [0, 0, "=-g"],
    "materials": {"grain": {"friction": "=mu", "density": 2500}},
    "bodies": [
        {"name": "plate", "shape": {"kind": "plane"}, "at": [0, 0, "=steepness*d"]},
        {"name": "cone", "shape": {"kind": "revolve", "profile": [["=d", "=steepness*d"], ["=silo", "=steepness*silo"]]}, "at": [0, 0, 0]},
        {"name": "wall", "shape": {"kind": "revolve", "profile": [["=silo", "=steepness*silo - d"], ["=silo", "=60*d"]]}, "at": [0, 0, 0]},
        {"radius": {"mean": "=d/2", "spread": 0.1}, "count": 2000,
         "layers": {"bottom": [0, 0, "=steepness*silo + 0.6*d"], "radius": "=silo", "spacing": "=1.15*d", "jitter": 0.9}}
    ],
    "probes": [{"name": "outlet", "plane": {"at": [0, 0, "=4*d"], "normal": [0, 0, -1]}}],
    "sinks": [{"below": "=-12*d"}]
});
/* clang-format on */

enum { ORIFICES = 4 };
static const double silo_radius = 7.5, orifices[ORIFICES] = {5.0, 5.7, 6.4, 7.0}, beverloo_k = 1.4;

/* A silo whose bottom rises from the axis. */
typedef struct Silo {
    const char *scene;
    int grains, closures; /* the first bodies, which close it */
    double steepness;     /* of the bottom: height over radius */
    double lo, hi;        /* d: heights between which the bulk density is measured */
    double friction;      /* also of the wall */
    /* Of the rate, by Rose and Tanaka: (tan(half angle) tan(a))^-0.35. The slope a at which grains would stagnate on a flat
     * bottom is taken as 45 degrees, which is that of rough grains. */
    double factor;
} Silo;

static const Silo flat_silo = {discharge_scene, 2800, 1, 0.0, 1.5, 10.0, 0.2, 1.0};
static const Silo cone_silo = {cone_scene, 2000, 2, 1.7320508, 13.5, 17.0, 0.5, 1.2119821};

/* A rate and its standard error, kg/s. */
typedef struct Rate {
    double mean, error;
} Rate;

/* Returns the mass of a mean grain, kg: radii are uniform within 10 % of d/2, so the mean cube is 1.01 of the cube. */
static double get_grain_mass(void)
{
    return 1.01 * flow_density * 3.14159265358979323846 / 6.0 * pow(flow_d, 3);
}

/* Measures the bulk density of the settled grains, kg/m3, away from wall, bottom and surface. */
static TalusStatus measure_bulk_density(const Flow *flow, const Silo *silo, double *density)
{
    FlowState state = {0};
    const double r = 5.0 * flow_d;
    const TalusRegion core = {
        .lo = {-r, -r, silo->lo * flow_d}, .hi = {r, r, silo->hi * flow_d}, .axis = 2};
    TalusStatus status = flow_take(flow, &state);
    if (status == TALUS_OK)
        *density = flow_density * talus_packing_fraction(&state.assembly, &core);
    flow_clear(&state);
    return status;
}

/* Exchanges what closes the silo for a bottom with an orifice of this diameter. */
static TalusStatus open_orifice(TalusWorld *world, const Silo *silo, double diameter)
{
    const double inner = 0.5 * diameter, outer = silo_radius * flow_d;
    const double profile[] = {inner, silo->steepness * inner, outer, silo->steepness * outer};
    const TalusShapeDef bottom = {
        .kind = TALUS_SHAPE_REVOLVE, .profile = profile, .point_count = 2};
    TalusBodyBatch batch = talus_body_batch_default();
    const TalusVec3 origin = {0.0, 0.0, 0.0};
    TALUS_TRY(talus_world_add_shape(world, &bottom, &batch.shape));
    batch.count = 1;
    batch.fixed = true;
    batch.material = talus_world_material_count(world) - 1; /* the grains' */
    batch.position = &origin;
    TALUS_TRY(talus_world_add_bodies(world, &batch, NULL));
    for (int i = 1; i <= silo->closures; i++)
        TALUS_TRY(talus_world_remove_body(world, (TalusBodyId){(uint64_t)i}));
    return TALUS_OK;
}

/* Steps until the flow is over as above, and sets its rate. */
static TalusStatus measure_rate(Flow *flow, const Silo *silo, Rate *rate)
{
    enum { INTERVALS = 18 };
    const double most = silo->grains / 3.0 * get_grain_mass();
    const int plane = flow_find_probe(flow, "outlet");
    double sum = 0.0, squares = 0.0;
    int count = 0;
    TALUS_TRY(flow_advance(flow, 4.0));
    double before = talus_world_probe_value(flow->world, plane).total_mass;
    while (count < INTERVALS && before < most) {
        const double begin = talus_world_time(flow->world);
        TALUS_TRY(flow_advance(flow, 2.0));
        const double now = talus_world_probe_value(flow->world, plane).total_mass;
        const double part = (now - before) / (talus_world_time(flow->world) - begin);
        sum += part;
        squares += part * part;
        before = now;
        count++;
    }
    const double variance = (squares - sum * sum / count) / (count - 1);
    *rate = (Rate){sum / count, sqrt(fmax(variance, 0.0) / count)};
    return TALUS_OK;
}

/* Measures the rate of each orifice from a settled state, and the friction of contacts that slide towards the last one. */
static TalusStatus measure_rates(const ValidateSetup *setup, const Silo *silo, const void *bytes,
                                 size_t size, Rate rate[ORIFICES], double *sliding)
{
    TalusStatus status = TALUS_OK;
    for (int i = 0; i < ORIFICES && status == TALUS_OK; i++) {
        Flow flow = {.threads = setup->threads ? setup->threads : 1};
        status = talus_world_load(bytes, size, flow.threads, NULL, &flow.world);
        TALUS_THEN(status,
                   open_orifice(flow.world, silo, orifices[i] * flow_d * (1.0 + setup->widening)));
        TALUS_THEN(status, measure_rate(&flow, silo, &rate[i]));
        TALUS_THEN(status, flow_find_sliding(&flow, sliding));
        TALUS_THEN(status, flow_check(&flow));
        flow_end(&flow);
    }
    return status;
}

/* Returns chi^2 over its degrees of freedom of the line W^(2/5) = a + b D, weighted by the errors of the rates. */
static double fit_law(const Rate rate[ORIFICES])
{
    double s = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0, chi = 0.0;
    double y[ORIFICES], weight[ORIFICES];
    for (int i = 0; i < ORIFICES; i++) {
        y[i] = pow(rate[i].mean, 0.4);
        weight[i] = pow(0.4 * y[i] * rate[i].error / rate[i].mean, -2.0);
        s += weight[i];
        sx += weight[i] * orifices[i];
        sy += weight[i] * y[i];
    }
    for (int i = 0; i < ORIFICES; i++) {
        sxx += weight[i] * (orifices[i] - sx / s) * (orifices[i] - sx / s);
        sxy += weight[i] * (orifices[i] - sx / s) * y[i];
    }
    for (int i = 0; i < ORIFICES; i++)
        chi += weight[i] * pow(y[i] - sy / s - sxy / sxx * (orifices[i] - sx / s), 2.0);
    return chi / (ORIFICES - 2);
}

/* found: C at this k over Rose and Tanaka's factor, exponent, largest deviation from the mean C in percent, chi^2. */
static void fit_beverloo(const Silo *silo, const Rate rate[ORIFICES], double density, double *found)
{
    double c[ORIFICES], x[ORIFICES], y[ORIFICES], mean = 0.0;
    for (int i = 0; i < ORIFICES; i++) {
        const double open = (orifices[i] - beverloo_k) * flow_d;
        c[i] = rate[i].mean / (density * sqrt(flow_g) * pow(open, 2.5));
        mean += c[i] / ORIFICES;
        x[i] = log(open);
        y[i] = log(rate[i].mean);
    }
    found[0] = mean / silo->factor;
    found[1] = flow_fit_slope(x, y, ORIFICES);
    found[2] = 0.0;
    for (int i = 0; i < ORIFICES; i++)
        found[2] = fmax(found[2], 100.0 * fabs(c[i] / mean - 1.0));
    found[3] = fit_law(rate);
}

static TalusStatus measure_discharge(const ValidateSetup *setup, const Silo *silo, double *found)
{
    Flow flow;
    void *bytes = NULL;
    size_t size = 0;
    double density = 0.0;
    Rate rate[ORIFICES] = {{0.0, 0.0}};
    TalusStatus status = flow_begin(setup, silo->scene, silo->friction, NULL, &flow);
    TALUS_THEN(status, flow_advance(&flow, 22.0));
    TALUS_THEN(status, measure_bulk_density(&flow, silo, &density));
    TALUS_THEN(status, talus_world_save(flow.world, &bytes, &size));
    flow_end(&flow);
    TALUS_THEN(status, measure_rates(setup, silo, bytes, size, rate, &found[4]));
    talus_free(bytes);
    if (status == TALUS_OK)
        fit_beverloo(silo, rate, density, found);
    return status;
}

static TalusStatus measure_beverloo(const ValidateSetup *setup, double *found)
{
    return measure_discharge(setup, &flat_silo, found);
}

static TalusStatus measure_cone(const ValidateSetup *setup, double *found)
{
    return measure_discharge(setup, &cone_silo, found);
}

static void expect_discharge(const Silo *silo, const char *name, double bound, ValidateQuantity *q)
{
    q[0] = (ValidateQuantity){.name = name, .unit = "", .expected = 0.6, .bound = bound};
    q[1] = (ValidateQuantity){.name = "exponent", .unit = "", .expected = 2.5, .bound = 0.3};
    q[2] = (ValidateQuantity){
        .name = "largest deviation of C", .unit = "%", .expected = 0.0, .bound = 8.0};
    q[3] = (ValidateQuantity){
        .name = "chi^2 over 2, C and k free", .unit = "", .expected = 0.0, .bound = 4.6};
    q[4] = flow_expect_sliding(silo->friction);
}

static void expect_beverloo(double h, ValidateQuantity *q)
{
    (void)h;
    expect_discharge(&flat_silo, "C at k = 1.4", 0.05, q);
}

static void expect_cone(double h, ValidateQuantity *q)
{
    (void)h;
    expect_discharge(&cone_silo, "C at k = 1.4 over 1.212", 0.08, q);
}

/* ---- the load on the bottom ----
 *
 * 450 or 900 spheres fall into a silo of 7 d on a plate. Then the plate sinks slowly, as in experiments, so that friction on
 * the wall is mobilised; loads are means over the later half of this. Janssen's law, with x in proportion to the height,
 *     Q / W = (1 - exp(-x)) / x,
 * has x from the load of the half-full silo and so predicts that of the full one. */

/* clang-format off */
static const char load_scene[] = FLOW_SCENE({
    "params": {"d": 0.01, "g": 9.81, "h": 0.001, "mu": 0.5, "wide": 1, "count": 900, "silo": "=3.5*d*wide", "t": "=sqrt(0.01/9.81)"},
    "step": "=h", "gravity": [0, 0, "=-g"],
    "materials": {"grain": {"friction": "=mu", "density": 2500}},
    "bodies": [
        {"name": "plate", "shape": {"kind": "plane"}, "at": [0, 0, 0],
         "drive": {"velocity": [0, 0, "=-0.01*d/t"], "start": "=50*t"}},
        {"name": "wall", "shape": {"kind": "revolve", "profile": [["=silo", "=-2*d"], ["=silo", "=90*d"]]}, "at": [0, 0, 0]},
        {"radius": {"mean": "=d/2", "spread": 0.1}, "count": "=count",
         "layers": {"bottom": [0, 0, "=0.6*d"], "radius": "=silo", "spacing": "=1.15*d", "jitter": 0.9}}
    ],
    "probes": [{"name": "plate", "body": "plate"}, {"name": "wall", "body": "wall"}]
});
/* clang-format on */

/* Sets the loads of plate and wall over the weight of `count` spheres, and the friction of contacts that slide. */
static TalusStatus measure_load(const ValidateSetup *setup, double count, double *bottom,
                                double *wall, double *sliding)
{
    const FlowParam params[] = {{"count", count}, {NULL, 0.0}};
    Flow flow;
    TalusVec3 mean, velocity, force[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    double mass = 0.0;
    TalusStatus status = flow_begin(setup, load_scene, 0.5, params, &flow);
    TALUS_THEN(status, flow_advance(&flow, 60.0));
    TALUS_THEN(status, flow_average_forces(&flow, 10.0, 2, force));
    TALUS_THEN(status, flow_find_mean(&flow, &mean, &velocity, &mass));
    TALUS_THEN(status, flow_find_sliding(&flow, sliding));
    TALUS_THEN(status, flow_check(&flow));
    flow_end(&flow);
    *bottom = -force[0].z / (mass * flow_g);
    *wall = -force[1].z / (mass * flow_g);
    return status;
}

/* Returns the load over the weight by Janssen's law. */
static double predict_load(double x)
{
    return (1.0 - exp(-x)) / x;
}

/* Returns the x at which the load over the weight is this one. */
static double find_height(double load)
{
    double low = 1e-6, high = 100.0;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        if (predict_load(middle) > load)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

static TalusStatus measure_janssen(const ValidateSetup *setup, double *found)
{
    double bottom, wall, half, half_wall;
    TALUS_TRY(measure_load(setup, 450.0, &half, &half_wall, &found[3]));
    TALUS_TRY(measure_load(setup, 900.0, &bottom, &wall, &found[3]));
    found[0] = bottom + wall;
    found[1] = bottom / predict_load(2.0 * find_height(half));
    found[2] = bottom;
    return TALUS_OK;
}

static void expect_janssen(double h, ValidateQuantity *q)
{
    (void)h;
    q[0] = (ValidateQuantity){.name = "load of plate and wall over the weight",
                              .unit = "",
                              .expected = 1.0,
                              .bound = 0.005};
    q[1] = (ValidateQuantity){
        .name = "load of the plate over Janssen's", .unit = "", .expected = 1.0, .bound = 0.25};
    q[2] = (ValidateQuantity){
        .name = "load of the plate over the weight", .unit = "", .expected = 0.25, .bound = 0.15};
    q[3] = flow_expect_sliding(0.5);
}

const ValidateCase validate_silos[] = {
    {.name = "beverloo",
     .shows = "discharge of a flat silo through four orifices of 5 to 7 diameters",
     .source =
         "W = C rho sqrt(g) (D - k d)^(5/2), C = 0.55 to 0.65, k = 1.4 (Beverloo, Leniger and "
         "van de Velde 1961, Chem. Eng. Sci. 15, 260; Nedderman 1992)",
     .reason =
         "C at the fixed k: the published range; exponent 0.3, which excludes the area, 2, and the volume, 3, and spread "
         "of C 8 %: scatter of some hundred grains per orifice; chi^2: 4.6 is exceeded by chance once in a hundred; 0.005: Coulomb's law",
     .step = FLOW_STEP,
     .coulomb_alone = true,
     .slow = true,
     .quantities = 5,
     .expect = expect_beverloo,
     .measure = measure_beverloo},
    {.name = "cone",
     .shows =
         "discharge of a cone with a half angle of 30 degrees through four orifices of 5 to 7 diameters",
     .source =
         "Beverloo's W times (tan(half angle) tan(45 degrees))^-0.35, 1.212 here (Rose and Tanaka 1959, The Engineer "
         "208, 465; Nedderman 1992); from memory",
     .reason =
         "C: the published range, 0.05, and of the correlation for cones 10 %; the rest as for beverloo",
     .step = FLOW_STEP,
     .coulomb_alone = true,
     .slow = true,
     .quantities = 5,
     .expect = expect_cone,
     .measure = measure_cone},
    {.name = "janssen",
     .shows = "the wall of a silo bears most of the grains' weight",
     .source = "Q/W = (1 - exp(-x))/x, x = 2 mu K H/R (Janssen 1895), K from the half-full silo",
     .reason =
         "0.005: balance of forces while the grains hardly move; 0.25: Janssen's stress is uniform across the "
         "silo, and loads scatter; 0.15: loads at H = 6 R for K between 0.3 and 1; 0.005: Coulomb's law",
     .step = FLOW_STEP,
     .coulomb_alone = true,
     .slow = true,
     .seeds = 4,
     .quantities = 4,
     .expect = expect_janssen,
     .measure = measure_janssen}};
const int validate_silos_count = LAB_COUNT(validate_silos);
