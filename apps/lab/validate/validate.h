/* lab/validate/validate.h - cases of `talus validate`: motions with a closed form and bulk flows with a cited band, each
 * judged at two steps and under two friction laws.
 *
 * A case states its quantities (closed form, bound, order) in code, then measures them in worlds of its own. A quantity
 * holds if it is within its bound at the case's step h and within the bound of its order at h/2: an error of first order
 * must halve, so an error of O(h) shows where there should be none. A new case is a row of a file's table, named in the
 * list of cases.c. Steps are solved to 1e-9 of |gravity| h, so that what is seen is the time discretisation.
 *
 * Cases of grains (flow.h) are solved as scenes are by default. Where they scatter, a quantity is the mean over several
 * seeds, and its standard error must be at most half of its bound. */
#ifndef TALUS_LAB_VALIDATE_VALIDATE_H
#define TALUS_LAB_VALIDATE_VALIDATE_H

#include "lab/lab.h"

#include "base/status.h"

#include <talus/joint.h>

/* Maxima of quantities and seeds of a case; h and h/2. */
enum { VALIDATE_QUANTITIES = 6, VALIDATE_SEEDS = 8, VALIDATE_STEPS = 2 };

/* Conditions under which a case is measured. The last four plant an error, for tests. */
typedef struct ValidateSetup {
    TalusFrictionLaw law;
    TalusImpactLaw impacts;
    double step;     /* s */
    int seed;        /* of a case of grains: 1 and on */
    int threads;     /* of the worlds of grains; 0: one. No result depends on it */
    double gravity;  /* factor of gravity, 1 */
    double friction; /* factor of all friction, rolling friction too, 1 */
    double shift;    /* m: distance by which floors and walls are too far back, 0 */
    double
        widening; /* of grains: share by which openings, silos, drums, columns, discs and beds are too wide, 0 */
} ValidateSetup;

/* A measured quantity, with what it should be. */
typedef struct ValidateQuantity {
    const char *name, *unit;
    double expected; /* closed form */
    double bound;    /* largest error at the case's step, in `unit` */
    int order;       /* of the error in h: the bound at h/2 is bound / 2^order */
    /* As `bound`, of first order, under the convex relaxation, whose sliding contacts open; 0: as above. */
    double relaxed_bound;
    /* Why the quantity is missed under every law, and under ccp, where that is the expected verdict; NULL: it must hold. */
    const char *fails, *relaxed_fails;
} ValidateQuantity;

typedef struct ValidateCase {
    const char *name;
    const char *shows;
    const char *source;   /* of the closed form */
    const char *reason;   /* of the bounds */
    double step;          /* h, s */
    bool without_contact; /* nothing touches: judged under the default law alone */
    bool coulomb_alone;   /* judged under coulomb alone: the other law costs more than it shows */
    bool ccp_alone;       /* judged under ccp alone: under coulomb steps miss their tolerance */
    bool slow;            /* takes more than a second or so; left out by --quick */
    int seeds;      /* a quantity is the mean over so many runs; 0: one run, nothing is random */
    int quantities; /* number of them, at most VALIDATE_QUANTITIES */
    /* Writes the quantities as they should be when the step is `h`. */
    void (*expect)(double h, ValidateQuantity *quantity);
    /* Measures them; found[quantities]. */
    TalusStatus (*measure)(const ValidateSetup *setup, double *found);
} ValidateCase;

typedef enum ValidateVerdict {
    VALIDATE_HOLDS,
    VALIDATE_FAILS,
    VALIDATE_FAILS_AS_EXPECTED,
    VALIDATE_UNEXPECTED, /* holds, though expected to fail: what is said about the case is no longer true */
    VALIDATE_VERDICTS
} ValidateVerdict;

/* A quantity of a case under one law at one step. */
typedef struct ValidateRow {
    const ValidateCase *of;
    TalusFrictionLaw law;
    double step, found, bound;
    double scatter; /* standard error of `found`, a mean over seeds; 0: one run */
    ValidateQuantity quantity;
    ValidateVerdict verdict;
    char error[LAB_TEXT]; /* why the case could not be measured; "": it was */
} ValidateRow;

enum { VALIDATE_ROWS = 2 * VALIDATE_STEPS * VALIDATE_QUANTITIES }; /* maximum of a case */

/* ---- the list (cases.c) ---- */

int validate_case_count(void);
const ValidateCase *validate_get_case(int index);
/* Returns NULL if there is no case of this name. */
const ValidateCase *validate_find_case(const char *name);

extern const ValidateCase validate_sliding[], validate_rolling[], validate_impacts[],
    validate_tops[], validate_machines[], validate_statics[], validate_structures[],
    validate_packings[], validate_silos[], validate_slopes[], validate_collapses[],
    validate_shearing[], validate_heaps[], validate_craters[];
extern const int validate_sliding_count, validate_rolling_count, validate_impacts_count,
    validate_tops_count, validate_machines_count, validate_statics_count, validate_structures_count,
    validate_packings_count, validate_silos_count, validate_slopes_count, validate_collapses_count,
    validate_shearing_count, validate_heaps_count, validate_craters_count;

/* ---- judging (judge.c) ---- */

const char *validate_verdict_name(ValidateVerdict verdict);
/* Returns why the quantity is expected to fail under a law; NULL: it must hold. */
const char *validate_expected_failure(const ValidateQuantity *quantity, TalusFrictionLaw law);
/* True for VALIDATE_FAILS and VALIDATE_UNEXPECTED. */
bool validate_is_red(ValidateVerdict verdict);
/* Measures a case under each of its laws at h and h/2, with the threads and the planted errors of `planted`, whose law,
 * step and seed are not used. Writes a row for each quantity, law and step; returns their number, at most VALIDATE_ROWS. A case that cannot be
 * measured gets rows that fail. Stops early once a signal requests it. */
int validate_judge(const ValidateCase *c, const ValidateSetup *planted, ValidateRow *rows);

/* ---- report (report.c) ---- */

/* Adds the table of all cases named in `rows` (source and reason of their bounds), and the table of verdicts. */
void validate_add_tables(LabSet *set, const ValidateRow *rows, int count);

/* ---- worlds of the cases (worlds.c) ---- */

/* State of a body. */
typedef struct ValidateState {
    TalusVec3 position, velocity, spin;
    TalusQuat orientation;
} ValidateState;

/* Body to be added. A mass of 0 makes it fixed; an orientation of zeros is the identity. */
typedef struct ValidateBody {
    TalusShapeDef shape;
    double mass;
    TalusVec3 position, velocity, spin;
    TalusQuat orientation;
    int material; /* 0: the default, of floors too */
} ValidateBody;

extern const double validate_gravity; /* 9.81 m/s2, before a planted error */

/* Creates a world with gravity along -z tilted by atan(slope) towards +x, as on an incline along x, and friction `mu`
 * between all bodies. */
TalusStatus validate_create(const ValidateSetup *setup, double slope, double mu, TalusWorld **out);
/* As validate_create with slope 0, without gravity. */
TalusStatus validate_create_weightless(const ValidateSetup *setup, TalusWorld **out);
/* Sets friction, rolling friction and restitution of all pairs. */
TalusStatus validate_set_pair(const ValidateSetup *setup, TalusWorld *world, double mu,
                              double rolling, double restitution);
/* Adds the plane z = 0, free above, or x = 0, free beyond, as the next body; a planted error moves it back. */
TalusStatus validate_add_floor(const ValidateSetup *setup, TalusWorld *world);
TalusStatus validate_add_wall(const ValidateSetup *setup, TalusWorld *world, int material);
/* Adds a body; `id` may be NULL. */
TalusStatus validate_add_body(TalusWorld *world, const ValidateBody *body, TalusBodyId *id);
/* Makes one step; fails if it misses its tolerance or a signal requests a stop. */
TalusStatus validate_step(TalusWorld *world);
/* Makes steps until `seconds` have passed. */
TalusStatus validate_advance(TalusWorld *world, double seconds);
/* Reads the body that was added as number `index`, from 0. */
ValidateState validate_read(const TalusWorld *world, int index);

TalusShapeDef validate_sphere(double radius);
TalusShapeDef validate_box(double half_x, double half_y, double half_z);
TalusShapeDef validate_cylinder(double radius, double half_height);
/* Returns the rotation by `angle` about the y axis, which turns z towards x. */
TalusQuat validate_turn_about_y(double angle);

/* Finds by bisection where `test` changes from false (at low) to true (at high), to 1e-4 of the interval. `test` writes
 * whether something happens at `value`. */
typedef TalusStatus ValidateTest(const ValidateSetup *setup, double value, bool *out);
TalusStatus validate_bisect(const ValidateSetup *setup, ValidateTest *test, double low, double high,
                            double *out);
/* Returns the complete elliptic integral K of parameter m. */
double validate_elliptic_k(double m);

#endif
