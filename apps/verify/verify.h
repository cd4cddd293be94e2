/* verify.h - the independent verifier: recomputes from raw data all that a solver reports.
 *
 * The verifier shares no code with src/, only the public structs that hold the data. Bodies keep their physical
 * units, every contact applies its six-row columns of D one by one, M is inverted by Gauss-Jordan, and projections
 * use bisection and a search along the sides of sections, or along the circular cone's generator, instead of case
 * distinctions. The code is slow and meant to be read. Out of memory ends the program. */
#ifndef TALUS_VERIFY_H
#define TALUS_VERIFY_H

#include <talus/fclib.h>
#include <talus/problem.h>

/* ---- sets ---- */

enum { VERIFY_SIDES = 64, VERIFY_ROWS = 6 };

/* Set of one block: cone over its sections; under TALUS_LAW_FIXED the prism of size `estimate`; of a joint, a box. */
typedef struct VerifySet {
    int rows; /* 1, 3 or 6 */
    TalusFrictionModel model;
    double mu, spinning, rolling, estimate;
} VerifySet;

/* Euclidean projection, in place. */
void verify_set_project(const VerifySet *set, double *block);

/* Euclidean projection of one block of 1 or 3 rows onto the half line or the circular cone, in place. */
void verify_project(int rows, double mu, double *block);

/* ---- any problem: its data at one gamma ---- */

typedef struct VerifyPoint {
    int blocks, rows;     /* rows per block: 1, 2 (plane contacts), 3 or 6 */
    VerifySet *set;       /* [blocks]; plane contacts have sets of three rows */
    double *normal;       /* [blocks]: (N + E)_nn */
    double *tangential;   /* [blocks]: mean of the other diagonal entries of N */
    double *gamma, *q;    /* [rows * blocks] */
    double *u, *g;        /* contact velocity N gamma + q, gradient u + E gamma */
    double *terms;        /* [blocks]: |N| |gamma| + |q| + E |gamma|, magnitude of the terms of g */
    double *offset_terms; /* [blocks]: magnitude of the terms of q */
} VerifyPoint;

void verify_free(VerifyPoint *point);

/* Computes every figure of TalusMetrics. */
void verify_measure(const VerifyPoint *point, TalusMetrics *out);

/* Check of a direction delta as proof that there is no solution. The point is at gamma = delta times a large
 * number, so that g - q equals (N + E) gamma up to rounding. */
typedef struct VerifyCertificate {
    double outside;  /* distance from the unbounded directions of K, relative to delta */
    double balance;  /* |(N + E) delta|, relative to its terms */
    double gain;     /* -q'delta / (|q| |delta|), over the blocks where delta is not 0 */
    double rounding; /* share of the gain that rounding of q may hide */
    bool proof;      /* outside and balance are rounding; the gain is far above */
} VerifyCertificate;

VerifyCertificate verify_certificate(const VerifyPoint *point);
/* Returns a sufficiently large power of two for gamma, from the point at the direction itself. */
double verify_certificate_scale(const VerifyPoint *point);

/* Evaluates a problem's def at impulses gamma; release with verify_free. */
VerifyPoint verify_def_point(const TalusProblemDef *def, const double *gamma);
/* Sets bounds of blocks under TALUS_LAW_FIXED, [blocks]; by default they follow from gamma's own normal impulses. */
void verify_set_estimate(VerifyPoint *point, const double *estimate);

/* Evaluates an FCLIB problem at impulses r (rows of the file) under one friction model. Uses (W + W')/2 for W
 * (H' M^-1 H of a global problem), or W as stored under TALUS_LAW_COULOMB; only the normal rows if no contact has
 * friction. `as_stored` (may be NULL) receives u with W as stored, all rows of the file. Returns false with a
 * reason if M cannot be inverted here. */
bool verify_fclib_point(const TalusFclib *problem, TalusFrictionModel model, const double *r,
                        VerifyPoint *out, double *as_stored, const char **reason);

/* ---- a problem's def ---- */

/* Number of blocks, rows per block (1, 3 or 6: the maximum over contacts), and of all rows. */
int verify_blocks(const TalusProblemDef *def);
int verify_rows(const TalusProblemDef *def);
int verify_size(const TalusProblemDef *def);
double verify_mu(const TalusProblemDef *def, int block); /* 0 without a section */

/* The contact frame as three rows (normal, tangent 1, tangent 2): n = -s H e_x, t1 = H e_y,
 * t2 = s H e_z with H the reflection along w = n + s e_x, s = sign(n_x), s(0) = 1. */
void verify_frame(TalusVec3 normal, double axis[3][3]);

/* v = v_f + M^-1 D gamma, [6 bodies]; contacts only. gamma NULL is zero. */
void verify_body_velocity(const TalusProblemDef *def, const double *gamma, double *v);
/* u = D'v + b, or N gamma + q: the contact velocity, [size]. gamma NULL gives q. */
void verify_velocity(const TalusProblemDef *def, const double *gamma, double *u);
/* u + E gamma. */
void verify_gradient(const TalusProblemDef *def, const double *gamma, double *gradient);
/* N x alone. */
void verify_product(const TalusProblemDef *def, const double *x, double *out);

#endif
