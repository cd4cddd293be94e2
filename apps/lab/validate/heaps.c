/* lab/validate/heaps.c - the angle of repose of spheres poured onto a rough disc.
 *
 * 750 spheres fall onto the middle of a disc of 20 d of fixed spheres; those that find no place leave over its edge. The angle
 * is that of a cone through the surface of what stays (talus_heap_measure), some 44 sqrt(d/g) after the last sphere. */
#include "flow.h"

#include <math.h>

/* clang-format off */
static const char heap_scene[] = FLOW_SCENE({
    "params": {"d": 0.01, "g": 9.81, "h": 0.001, "mu": 0.5, "wide": 1, "disc": "=10*d*wide"},
    "step": "=h", "gravity": [0, 0, "=-g"],
    "materials": {"grain": {"friction": "=mu", "density": 2500}},
    "bodies": [
        {"radius": {"mean": "=d/2", "spread": 0.1}, "fixed": true, "count": "=ceil(0.55*(2*disc/d)^2)",
         "layers": {"bottom": [0, 0, "=-1.2*d"], "radius": "=disc", "spacing": "=1.2*d", "jitter": 0.5}}
    ],
    "emitters": [
        {"lo": ["=-2*d", "=-2*d", "=0.6*disc"], "hi": ["=2*d", "=2*d", "=0.6*disc + 4*d"],
         "rate": 1000, "count": 750, "radius": {"mean": "=d/2", "spread": 0.1}}
    ],
    "sinks": [{"below": "=-1.5*d"}]
});
/* clang-format on */

/* A heap at rest. */
typedef struct Pile {
    double angle;   /* degrees */
    double misfit;  /* root of the mean square distance of the surface from the cone, d */
    double load;    /* of the disc over the weight */
    double sliding; /* friction of contacts that slide, while grains are poured */
} Pile;

static TalusStatus measure_pile(const ValidateSetup *setup, double mu, Pile *pile)
{
    const TalusBulkDef def = talus_bulk_def_default();
    Flow flow;
    FlowState state = {0};
    TalusHeap heap = {0};
    TalusVec3 position, velocity;
    double mass = 0.0, sliding = 0.0;
    TalusStatus status = flow_begin(setup, heap_scene, mu, NULL, &flow);
    TALUS_THEN(status, flow_advance(&flow, 20.0));
    TALUS_THEN(status, flow_find_sliding(&flow, &sliding));
    TALUS_THEN(status, flow_advance(&flow, 48.0));
    TALUS_THEN(status, flow_check(&flow));
    TALUS_THEN(status, flow_take(&flow, &state));
    TALUS_THEN(status, talus_heap_measure(&state.assembly, &def, &heap));
    TALUS_THEN(status, flow_find_mean(&flow, &position, &velocity, &mass));
    if (status == TALUS_OK)
        *pile = (Pile){57.295779513 * heap.repose, heap.repose_misfit / flow_d,
                       -flow_find_boundary_force(&state.assembly).z / (mass * flow_g), sliding};
    flow_clear(&state);
    flow_end(&flow);
    return status;
}

static TalusStatus measure_heap(const ValidateSetup *setup, double *found)
{
    Pile rough, smooth;
    TALUS_TRY(measure_pile(setup, 0.5, &rough));
    TALUS_TRY(measure_pile(setup, 0.1, &smooth));
    found[0] = rough.angle;
    found[1] = rough.angle - smooth.angle;
    found[2] = rough.misfit;
    found[3] = rough.load;
    found[4] = rough.sliding;
    return TALUS_OK;
}

static void expect_heap(double h, ValidateQuantity *q)
{
    (void)h;
    q[0] = (ValidateQuantity){
        .name = "angle of repose", .unit = "degrees", .expected = 25.0, .bound = 4.0};
    q[1] = (ValidateQuantity){
        .name = "rise from friction 0.1", .unit = "degrees", .expected = 5.9, .bound = 3.0};
    q[2] = (ValidateQuantity){
        .name = "distance from a cone", .unit = "d", .expected = 0.0, .bound = 0.5};
    q[3] = (ValidateQuantity){
        .name = "load of the disc over the weight", .unit = "", .expected = 1.0, .bound = 0.01};
    q[4] = flow_expect_sliding(0.5);
}

const ValidateCase validate_heaps[] = {
    {.name = "repose",
     .shows = "spheres poured onto a rough disc: the angle of repose, and its rise with friction",
     .source =
         "21 degrees, where layers of friction 0.5 stop (Silbert et al. 2001), to 29, 3 above heaps of glass beads "
         "(Carrigy 1970, Sedimentology 14, 147); rise: atan(0.382) - atan(0.268), of shear (Chialvo et al. 2012, Phys. "
         "Rev. E 85, 021305); from memory",
     .reason =
         "4 degrees: that range; 3: scatter of small heaps; 0.5 d: a surface of spheres; 0.01: balance of forces; 0.005: Coulomb's law. "
         "Figures of docs/tutorial/repose.md were known",
     .step = FLOW_STEP,
     .slow = true,
     .seeds = 8,
     .quantities = 5,
     .expect = expect_heap,
     .measure = measure_heap}};
const int validate_heaps_count = LAB_COUNT(validate_heaps);
