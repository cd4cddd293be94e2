/* support/models.h - problems whose blocks have friction models of all kinds, and plain formulas of these models. */
#ifndef TALUS_TESTS_SUPPORT_MODELS_H
#define TALUS_TESTS_SUPPORT_MODELS_H

#include "support/problems.h"

#include "problem/problem.h"

/* Numbers of sections (disc, square, triangle, octagon) and of laws: those of TalusFrictionLaw, then MODEL_MOVING,
 * which is Coulomb's law with prisms as sets (backend/operator.h). */
enum { MODEL_SECTIONS = 4, MODEL_LAWS = 4, MODEL_MOVING = 3 };

/* Model of a section and a law by their numbers above; MODEL_MOVING gives TALUS_LAW_COULOMB. */
TalusFrictionModel model_at(int section, int law);

typedef struct ModelOptions {
    HeapOptions heap;
    int rows;         /* 3 or 6 */
    int section, law; /* as for model_at; -1: blocks take turns, MODEL_MOVING left out */
    bool matrix;      /* explicit problem with the matrix N + E; 3 rows only */
    bool scaled;      /* a metric of random scales, not NULL */
} ModelOptions;

typedef struct ModelCase {
    TestProblem test; /* every seventh contact is without friction */
    TalusProblem *problem;
    TalusOperator *op;        /* the problem's; random estimates if blocks are prisms */
    TalusMetricBlock *metric; /* NULL: all scales 1 */
    int rows, blocks, n;      /* n = rows blocks */
    bool moving;              /* law MODEL_MOVING */
} ModelCase;

ModelCase make_model_case(const ModelOptions *options, TalusPool *pool);
void free_model_case(ModelCase *c);

/* One block as its def has it; a block without friction has a model of zeros. */
typedef struct ModelBlock {
    TalusFrictionModel model;
    double mu, moment_mu[2]; /* moment_mu: against spinning, rolling */
    bool prism;              /* bounds follow from `estimate`, not from the normal impulse */
    double estimate;
} ModelBlock;

/* The block as the case's operator projects it: a prism under law fixed and, if c->moving, under coulomb. */
ModelBlock model_block(const ModelCase *c, int i);
/* The same, but a prism under law fixed alone. */
ModelBlock model_law(const ModelCase *c, int i);

/* True if gamma exceeds no bound of the set by more than `slack`. */
bool model_allows(const ModelBlock *block, int rows, const double *gamma, double slack);
/* De Saxce's shift sigma(-u_t) in the normal velocity, with 6 rows also by the angular velocities. */
double model_shift(const ModelBlock *block, int rows, const double *u);
/* x = P(x) for gamma = s x, s[0] the scale of the normal row, s[1] of the others: projects onto the scaled set. */
void model_project(const ModelBlock *block, int rows, const double s[2], double *x);
/* x = P(x) for all blocks, in the case's metric. */
void model_project_all(const ModelCase *c, double *x);

/* Scale s of row k of block i; 1 without a metric. */
double model_scale(const ModelCase *c, int i, int k);

/* Returns n random numbers in [low, low + 1); the caller frees them. */
double *model_vector(int n, uint64_t seed, double low);

#endif
