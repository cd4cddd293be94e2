/* Problems whose blocks have friction models of all kinds, and what the models say by plain formulas. */
#ifndef TALUS_TESTS_SUPPORT_MODELS_H
#define TALUS_TESTS_SUPPORT_MODELS_H

#include "support/problems.h"

#include "problem/problem.h"

/* Sections (with two polygons) and laws; MODEL_MOVING is Coulomb's law as prisms (backend/operator.h). */
enum { MODEL_SECTIONS = 4, MODEL_LAWS = 4, MODEL_MOVING = 3 };

/* Model of one section and law by number, the last law being Coulomb's again. */
TalusFrictionModel model_at(int section, int law);

typedef struct ModelOptions {
    HeapOptions heap;
    int rows;         /* 3 or 6 */
    int section, law; /* of all blocks; -1: they take turns */
    bool matrix;      /* N + E written out; 3 rows only */
    bool scaled;      /* a metric with random numbers */
} ModelOptions;

typedef struct ModelCase {
    TestProblem test; /* every seventh contact is without friction */
    TalusProblem *problem;
    TalusOperator *op; /* with random estimates */
    TalusMetricBlock *metric;
    int rows, blocks, n;
    bool moving;
} ModelCase;

ModelCase make_model_case(const ModelOptions *options, TalusPool *pool);
void free_model_case(ModelCase *c);

/* One block as its def has it; without friction its model is all zeros. */
typedef struct ModelBlock {
    TalusFrictionModel model;
    double mu, moment_mu[2];
    bool prism;
    double estimate;
} ModelBlock;

ModelBlock model_block(const ModelCase *c, int i);
/* The same for what the law itself says, whether prisms stand for it or not. */
ModelBlock model_law(const ModelCase *c, int i);

/* gamma is in the set but for `slack`. */
bool model_allows(const ModelBlock *block, int rows, const double *gamma, double slack);
/* De Saxce's shift. */
double model_shift(const ModelBlock *block, int rows, const double *u);
/* x = P(x) in the metric s, the set scaled by hand. */
void model_project(const ModelBlock *block, int rows, const double s[2], double *x);
/* x = P(x) for all blocks, in the case's metric. */
void model_project_all(const ModelCase *c, double *x);

/* s of row k of block i. */
double model_scale(const ModelCase *c, int i, int k);

/* n numbers in [low, low + 1). */
double *model_vector(int n, uint64_t seed, double low);

#endif
