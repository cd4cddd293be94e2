/* verify.h - the independent verifier: recomputes from raw data all figures that a solver reports.
 *
 * The verifier shares no code with src/, only the public structs that hold the data. The algorithms differ too: bodies
 * keep their physical units, every contact applies its columns of D one by one, and the M of FCLIB files is inverted by
 * Gauss-Jordan. Projections use bisection and a search along the sides of sections, or along the circular cone's
 * generator, instead of case distinctions. The code is slow and meant to be read. Lack of memory ends the program. */
#ifndef TALUS_VERIFY_H
#define TALUS_VERIFY_H

#include <talus/fclib.h>
#include <talus/problem.h>

/* ---- sets ---- */

/* Maximum sides of a section; maximum rows of a block. */
enum { VERIFY_SIDES = 64, VERIFY_ROWS = 6 };

/* Admissible impulses of one block. The set of a contact is a cone: the normal impulse times mu bounds the tangential
 * impulses, times `spinning` and `rolling` it bounds the moments. Under TALUS_LAW_FIXED the set is a prism, whose
 * bounds have `estimate` in place of the normal impulse. The set of a joint is the box of impulses of magnitude up to
 * mu in the rows that the joint constrains, and 0 in the others. */
typedef struct VerifySet {
    int rows; /* 1, 3 or 6 */
    TalusFrictionModel model;
    double mu, spinning, rolling, estimate;
} VerifySet;

/* Replaces `block` (set->rows impulses) by the nearest point of the set, in the Euclidean norm. */
void verify_set_project(const VerifySet *set, double *block);

/* Replaces one block by the nearest point of the half line (rows 1) or of the circular cone of slope mu (rows 3). */
void verify_cone_project(int rows, double mu, double *block);

/* ---- any problem: its data at one gamma ---- */

/* The problem evaluated at impulses gamma; owns its arrays. */
typedef struct VerifyPoint {
    int blocks, rows;   /* rows per block: 1, 2 (an FCLIB problem in the plane), 3 or 6 */
    VerifySet *set;     /* [blocks]; sets of problems in the plane have three rows */
    double *normal;     /* [blocks]: (N + E)_nn */
    double *tangential; /* [blocks]: mean of the other diagonal entries of N; 0 if there are none */
    double *gamma, *q;  /* [rows * blocks] */
    double *u, *g;      /* [rows * blocks]: contact velocity N gamma + q, gradient u + E gamma */
    /* [blocks]: magnitude of the terms whose sum is g, about |N| |gamma| + |q| + E |gamma|; the rounding of g is in
     * proportion to it. */
    double *terms;
    double *offset_terms; /* [blocks]: the same at gamma = 0, for the rounding of q */
} VerifyPoint;

/* Frees the arrays of the point. */
void verify_point_free(VerifyPoint *point);

/* Computes every figure of TalusMetrics (docs/reference/metrics.md) at the point. */
void verify_measure(const VerifyPoint *point, TalusMetrics *out);

/* Result of checking whether a direction delta proves that the problem has no solution. It does if impulses can grow
 * along delta without bound, cause no velocity, (N + E) delta = 0, and lower the objective, q'delta < 0. */
typedef struct VerifyCertificate {
    /* d delta: the vector of all d_i delta_i, with the scales d_i of the blocks */
    double outside;  /* distance of d delta from the unbounded directions of K, over |d delta| */
    double balance;  /* |(N + E) delta| over |d delta| */
    double gain;     /* -q'delta / (|q| |delta|), over the blocks where delta is not 0 */
    double rounding; /* part of the gain that may be rounding of q */
    /* outside and balance are 0 up to rounding; gain is above rounding and at least 1e12 times balance */
    bool proof;
} VerifyCertificate;

/* Checks the direction point->gamma. The caller must have multiplied the direction by verify_certificate_scale, so that
 * g - q equals (N + E) gamma up to rounding. */
VerifyCertificate verify_certificate_check(const VerifyPoint *point);
/* Returns a power of two; with the direction point->gamma multiplied by it, the terms of (N + E) gamma far exceed q. */
double verify_certificate_scale(const VerifyPoint *point);

/* Evaluates the problem described by `def` at impulses gamma; release with verify_point_free. */
VerifyPoint verify_def_point(const TalusProblemDef *def, const double *gamma);
/* Changes the normal impulses, [blocks], from which bounds under TALUS_LAW_FIXED are formed; a new point has those of
 * gamma. */
void verify_point_set_estimate(VerifyPoint *point, const double *estimate);

/* Evaluates an FCLIB problem at impulses r, in the rows of the file, under one friction model. N is (W + W')/2, or W as
 * stored under TALUS_LAW_COULOMB; W is H' M^-1 H in a global problem. If no contact has friction, or the model's
 * section is none, the point has the normal rows alone. `as_stored` (may be NULL) receives u with W as stored, in all
 * rows of the file. Returns false with a reason, and leaves *out, if M (with joints, M and G together) cannot be
 * inverted here. */
bool verify_fclib_point(const TalusFclib *problem, TalusFrictionModel model, const double *r,
                        VerifyPoint *out, double *as_stored, const char **reason);

/* Returns |W - W'| / |W| (Frobenius norms) of a local problem; NAN of a global one. */
double verify_fclib_asymmetry(const TalusFclib *problem);

/* ---- a problem's def ---- */

/* Number of blocks. */
int verify_blocks(const TalusProblemDef *def);
/* Rows per block. Of a problem given by contacts: 1, 3 or 6, the most that one of the contacts needs. Of a problem
 * given by a matrix: def->rows, or 1 if all blocks have the section none. */
int verify_rows(const TalusProblemDef *def);
/* Number of rows of all blocks. */
int verify_size(const TalusProblemDef *def);
/* Friction coefficient of a block, 0 for a block without friction, as one with the section none; bound of the impulses
 * of a joint's block. */
double verify_mu(const TalusProblemDef *def, int block);

/* Writes the contact frame as three rows (normal, tangent 1, tangent 2): n = -s H e_x, t1 = H e_y,
 * t2 = s H e_z with H the reflection along w = n + s e_x, s = sign(n_x), s(0) = 1. */
void verify_frame(TalusVec3 normal, double axis[3][3]);

/* Writes velocities and angular velocities of bodies, v = v_f + M^-1 D gamma, [6 bodies]; only for a problem given by
 * contacts. gamma NULL is zero. */
void verify_body_velocity(const TalusProblemDef *def, const double *gamma, double *v);
/* Writes the contact velocity, [size]: u = D'v + b of a problem given by contacts, N gamma + q of one given by a
 * matrix. gamma NULL gives q. */
void verify_velocity(const TalusProblemDef *def, const double *gamma, double *u);
/* Writes the gradient u + E gamma, [size]; gamma must not be NULL. */
void verify_gradient(const TalusProblemDef *def, const double *gamma, double *gradient);
/* Writes N x, [size]. */
void verify_product(const TalusProblemDef *def, const double *x, double *out);

#endif
