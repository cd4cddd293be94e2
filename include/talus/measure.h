/* talus/measure.h - continuum fields and bulk figures of granular matter, from its bodies and contacts.
 *
 * Coarse-graining after Goldhirsch (2010, Granular Matter 12, 239) and, at boundaries, Weinhart, Thornton, Luding and
 * Bokhove (2012, Granular Matter 14, 289): each body is spread by a kernel W around its centre, each contact force by the
 * mean of W along the line from the centre to the contact point. A grid holds the mean of every field over each of its
 * cells, in closed form, so that sums over cells are those of the bodies and contacts, and a profile is a grid of one
 * cell along two axes, a region a grid of one cell.
 *
 *     density          rho = sum m W(x - x_i)
 *     momentum         P = sum m v W(x - x_i),    velocity V = P / rho
 *     kinetic stress   -sum m (v - V)(v - V) W(x - x_i)
 *     contact stress   sum over contacts of bodies i, with force f on i and arm l: f l integral_0^1 W(x - x_i - s l) ds
 *     contact force    sum F_i W(x - x_i), with F_i the sum of the contact forces on body i
 *     boundary force   sum over contacts with a boundary of f W(x - c), with c the contact point
 *     dissipation      sum p_i W(x - x_i), with p_i the power that the contacts of body i dissipate, shared by their bodies
 *
 * so that exactly div(contact stress) + boundary force = contact force. Stress is positive in tension, as in
 * rho DV/Dt = div(stress) + boundary force + rho g; pressure is minus a third of its trace. */
#ifndef TALUS_MEASURE_H
#define TALUS_MEASURE_H

#include <talus/backend.h>
#include <talus/base.h>
#include <talus/frames.h>
#include <talus/math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what is measured: bodies that flow, and their contacts ---- */

/* A contact of body a with body b or, if b is -1, with the boundary: all bodies that do not flow. */
typedef struct TalusAssemblyContact {
    int a, b;
    int pair; /* number of the pair of bodies, from 0: contacts of one pair share it */
    TalusVec3 arm_a, arm_b; /* m: from the centres to the contact point; arm_b is 0 if b is -1 */
    TalusVec3 normal;       /* from a to b */
    TalusVec3 force;        /* N, on b */
    double gap;             /* m; below 0: overlap */
} TalusAssemblyContact;

/* What an assembly has beyond positions, masses and volumes. */
typedef enum TalusAssemblyData {
    TALUS_ASSEMBLY_VELOCITY = 1,
    TALUS_ASSEMBLY_SPIN = 2,
    TALUS_ASSEMBLY_CONTACTS = 4, /* all contacts, not just those of the strong network */
    TALUS_ASSEMBLY_POWER = 8     /* only after talus_assembly_compare */
} TalusAssemblyData;

/* Bodies that flow, with their contacts, at one time. Arrays are those of the caller or of talus_assembly_take. */
typedef struct TalusAssembly {
    double time;   /* s */
    unsigned data; /* TALUS_ASSEMBLY_... */
    TalusPeriod period;
    TalusVec3 up; /* unit vector against gravity; 0: no direction is up */
    int body_count, assumed_masses;
    TalusVec3 *position, *velocity, *spin; /* velocity, spin: NULL if not in `data` */
    double *mass, *volume;
    double *radius;     /* of a sphere, else bounding radius */
    double *rotation;   /* J: kinetic energy of the spin; NULL without SPIN */
    uint64_t *id;       /* number of the body; ascending. NULL: unknown */
    double *dissipated; /* J: TalusBodyState.dissipated; NULL in a world that does not sum it */
    double *power; /* W: mean rate of `dissipated` since an earlier state; NULL without POWER */
    int *tag;      /* the user's number */
    int contact_count, pair_count;
    TalusAssemblyContact *contact;
} TalusAssembly;

enum { TALUS_ANY_TAG = INT32_MIN };

/* Takes the bodies of a snapshot that are not fixed and have this tag (TALUS_ANY_TAG: all), and their contacts; all other
 * bodies are boundary. `head` has shapes, materials and periods. A body whose mass is unknown (no masses, or NAN) gets
 * that of its material's density, and is counted in `assumed_masses`. `out` is overwritten; free it with talus_assembly_free. */
TALUS_API TalusStatus talus_assembly_take(const TalusSnapshot *snapshot,
                                          const TalusFramesHead *head, int tag, TalusAssembly *out);
/* Sets `power` from an earlier state of the same bodies, NULL: from the start, time 0, when nothing had been dissipated. A
 * body that the earlier state lacks has come since, with nothing dissipated. Without `dissipated`, or if no time has
 * passed, there is no power. The assembly must be one of talus_assembly_take. */
TALUS_API TalusStatus talus_assembly_compare(TalusAssembly *assembly, const TalusAssembly *earlier);
/* Frees the arrays of an assembly that talus_assembly_take made; a zeroed one is empty. */
TALUS_API void talus_assembly_free(TalusAssembly *assembly);

/* Sets *median to the median radius; NAN without bodies. */
TALUS_API TalusStatus talus_assembly_median_radius(const TalusAssembly *assembly, double *median);

/* ---- bulk figures ---- */

/* A box or, with an axis 0, 1 or 2, the cylinder along it whose circle the middle of the box's sides touch: its diameter is
 * the smaller side across. */
typedef struct TalusRegion {
    TalusVec3 lo, hi; /* infinite: no limit */
    int axis;         /* -1: the box */
} TalusRegion;

/* What of an assembly is counted. */
typedef struct TalusBulkDef {
    TalusRegion region; /* of the bodies' centres */
    /* A rattler has fewer neighbours with a loaded contact than this, not counting rattlers: 2 where there is friction,
     * which can hold a sphere between two contacts, 4 without. */
    int rattler_contacts;
} TalusBulkDef;

/* Everywhere; 2 contacts. */
TALUS_API TalusBulkDef talus_bulk_def_default(void);

/* Figures that need data which the assembly lacks are NAN. Of contacts, loaded ones count, those with a normal force
 * above 0, of the bodies in the region. */
typedef struct TalusBulk {
    int64_t bodies;
    double mass, volume; /* kg, m3: of the bodies */
    TalusVec3 centre;    /* of mass */
    TalusVec3 velocity;  /* of the centre of mass */
    double translation;  /* J: kinetic energy of velocities */
    double fluctuation;  /* J: the part of it that is about `velocity` */
    double rotation;     /* J: kinetic energy of spins */
    double contacts;     /* number of loaded contacts, points of one pair counted singly */
    double
        coordination; /* mean number of neighbours with a loaded contact, the boundary's bodies among them */
    double rattlers;     /* fraction of the bodies */
    double backbone;     /* coordination without rattlers: of the others, with the others */
    double mean_force;   /* N: mean normal force of the loaded contacts */
    double max_force;    /* N */
    double dissipated;   /* J: by the contacts of the bodies, since these came */
    double dissipation;  /* W: mean of its rate since the earlier state of talus_assembly_compare */
    double mean_overlap; /* m: mean overlap of the loaded contacts, 0 where the bodies were apart */
    double max_overlap;  /* m */
} TalusBulk;

TALUS_API TalusStatus talus_bulk_measure(const TalusAssembly *assembly, const TalusBulkDef *def,
                                         TalusBulk *out);

/* Distributions over contacts with a body in the region. */
typedef enum TalusDistribution {
    TALUS_DISTRIBUTION_FORCE, /* normal forces of loaded contacts, over their mean */
    TALUS_DISTRIBUTION_GAP,   /* gaps of all contacts, m; below 0: overlap */
    TALUS_DISTRIBUTIONS
} TalusDistribution;

enum { TALUS_HISTOGRAM_BINS = 50 };

/* Bins of equal width from lo, 0 for forces, to hi, the least and the largest value; around it if all values are equal. */
typedef struct TalusHistogram {
    double lo, hi;
    int64_t total, count[TALUS_HISTOGRAM_BINS];
} TalusHistogram;

/* Returns "force" or "gap". */
TALUS_API const char *talus_distribution_name(TalusDistribution distribution);
/* Fails if the assembly lacks contacts. Without values lo and hi are 0. */
TALUS_API TalusStatus talus_histogram_measure(const TalusAssembly *assembly,
                                              const TalusBulkDef *def,
                                              TalusDistribution distribution, TalusHistogram *out);

/* Returns the packing fraction of a finite region: the volume of the parts of bodies in it over its own. Each body, in
 * periodic space with its images, counts as the ball of its volume: exact for spheres, to 1e-9 of those that an edge or the
 * curved side cuts. NAN of a region with more than 2^20 images of each body. */
TALUS_API double talus_packing_fraction(const TalusAssembly *assembly, const TalusRegion *region);

/* The free surface of the bodies in the region, from columns of square section, twice the median diameter wide: the height of
 * a column is that of the highest point of a body whose centre is in it. NAN where fewer than 8 columns remain. */
typedef struct TalusHeap {
    /* Angle of a conical heap, radians: the columns between 20 % and 80 % of its height fall with the distance from the
     * vertical through the centre of mass, by least squares. */
    double repose;
    /* Angle of a plane surface, radians: of the plane through the half of the columns nearest to that vertical. */
    double slope;
    /* Root of the mean square distance, m, of the columns from cone and plane, along the vertical: an angle whose misfit
     * is beyond a radius or so is not that of such a surface. */
    double repose_misfit, slope_misfit;
} TalusHeap;

TALUS_API TalusStatus talus_heap_measure(const TalusAssembly *assembly, const TalusBulkDef *def,
                                         TalusHeap *out);

/* How two classes of bodies in the region are mixed: those with the highest tag and the others or, if all have one tag, those
 * larger than the mean of the least and the largest radius and the others. NAN with one class. */
typedef struct TalusMixing {
    double fraction; /* of the bodies that are of the first class */
    /* Lacey's index over cubes, twice the edge of the columns of TalusHeap: 0 apart, 1 as mixed as at random. */
    double lacey;
    /* Mean height of the first class less that of the others, over the standard deviation of all heights. */
    double segregation;
} TalusMixing;

TALUS_API TalusStatus talus_mixing_measure(const TalusAssembly *assembly, const TalusBulkDef *def,
                                           TalusMixing *out);

/* ---- flux ---- */

/* A plane across an axis, 0 to 2. Of it only the part counts that is in the box from lo to hi along the two other axes. */
typedef struct TalusFluxDef {
    int axis;
    double at;        /* m */
    TalusVec3 lo, hi; /* infinite: no limit */
} TalusFluxDef;

/* What has gone through the plane: along the axis less against it. */
typedef struct TalusFlux {
    int64_t bodies;
    double mass; /* kg */
} TalusFlux;

/* Counts the bodies whose centres lie on another side of the plane than in an earlier state; those that one of the states lacks
 * do not count. In periodic space a body is taken to have gone the shorter way. Both must be of talus_assembly_take. Fails in a
 * periodic cell that deforms. */
TALUS_API TalusStatus talus_flux_measure(const TalusAssembly *before, const TalusAssembly *after,
                                         const TalusFluxDef *def, TalusFlux *out);

/* ---- continuum fields ---- */

typedef enum TalusQuantity {
    TALUS_QUANTITY_DENSITY,
    TALUS_QUANTITY_SOLID,
    TALUS_QUANTITY_MOMENTUM,
    TALUS_QUANTITY_VELOCITY,
    TALUS_QUANTITY_SPIN,
    TALUS_QUANTITY_TEMPERATURE,
    TALUS_QUANTITY_VELOCITY_GRADIENT,
    TALUS_QUANTITY_AGITATION,
    TALUS_QUANTITY_KINETIC_STRESS,
    TALUS_QUANTITY_CONTACT_STRESS,
    TALUS_QUANTITY_STRESS,
    TALUS_QUANTITY_PRESSURE,
    TALUS_QUANTITY_DIVERGENCE,
    TALUS_QUANTITY_CONTACT_FORCE,
    TALUS_QUANTITY_BOUNDARY_FORCE,
    TALUS_QUANTITY_CONTACTS,
    TALUS_QUANTITY_FABRIC,
    TALUS_QUANTITY_DISSIPATION,
    TALUS_QUANTITIES
} TalusQuantity;

enum { TALUS_QUANTITY_COMPONENTS = 9 }; /* of a field, at most */

/* A row of the table of fields. */
typedef struct TalusQuantityRow {
    const char *name, *unit, *summary;
    int components; /* 1; 3: x y z; 6: xx yy zz xy yz xz; 9: xx xy xz yx yy yz zx zy zz */
    unsigned data;  /* TALUS_ASSEMBLY_... bits that the field needs */
} TalusQuantityRow;

TALUS_API TalusQuantityRow talus_quantity_row(TalusQuantity quantity);
/* Returns the suffixes of the components of a field of so many, such as "xx"; "" for a field of one. */
TALUS_API const char *talus_quantity_suffix(int components, int component);

/* The cells of a box. The kernel is the product of (15 / 16 w) (1 - (t / w)^2)^2, |t| < w, along the three axes. */
typedef struct TalusGridDef {
    TalusVec3 lo, hi;
    int cells[3];
    double width; /* w, m */
} TalusGridDef;

typedef struct TalusContinuum TalusContinuum;

/* Makes a grid for the fields whose bits (1 << TALUS_QUANTITY_...) are set; *out is NULL on failure. */
TALUS_API TalusStatus talus_continuum_create(const TalusGridDef *def, unsigned quantities,
                                             TalusContinuum **out);
TALUS_API void talus_continuum_destroy(TalusContinuum *continuum);
/* Adds the sums of an assembly to those before: fields are means over all assemblies added, and velocity fluctuations
 * are those about the mean velocity of all of them. The bits do not depend on the number of threads. Fails if the
 * assembly lacks data of a field. */
TALUS_API TalusStatus talus_continuum_add(TalusContinuum *continuum, const TalusAssembly *assembly,
                                          TalusPool *pool);
/* Forgets all assemblies. */
TALUS_API void talus_continuum_clear(TalusContinuum *continuum);
TALUS_API TalusGridDef talus_continuum_grid(const TalusContinuum *continuum);
/* Writes the components of a field in cell (i, j, k) to out[]. A quotient whose denominator vanishes there, such as a
 * velocity without mass, is NAN. The field must be one of those of the grid. */
TALUS_API void talus_continuum_get(const TalusContinuum *continuum, TalusQuantity quantity, int i,
                                   int j, int k, double out[TALUS_QUANTITY_COMPONENTS]);

#ifdef __cplusplus
}
#endif

#endif
