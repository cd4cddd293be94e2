/* support/problems.h - contact problems for tests: random heaps, random matrices, planted optima, steps of worlds. */
#ifndef TALUS_TESTS_SUPPORT_PROBLEMS_H
#define TALUS_TESTS_SUPPORT_PROBLEMS_H

#include <talus/problem.h>

enum { TEST_PROBLEM_PIECES = 16, KNOWN_PROBLEMS = 10, EXTRACTED_PROBLEMS = 10 };

typedef struct TestProblem {
    const char *name;
    TalusProblemDef def;
    double *gamma;    /* an optimum, [size]; NULL where none is known */
    double *gradient; /* (N + E) gamma + q at it */
    bool splitting;   /* Gauss-Seidel and Jacobi get below 1e-10 in a tolerable time */
    void *memory[TEST_PROBLEM_PIECES];
    int pieces;
} TestProblem;

void free_test_problem(TestProblem *problem);
/* Copies def and its arrays; the source may then be destroyed. */
TestProblem copy_test_problem(const TalusProblemDef *def, const char *name);
/* Zeroed memory that free_test_problem frees; at most TEST_PROBLEM_PIECES per problem. */
void *test_memory(TestProblem *problem, size_t count, size_t element);

/* A jittered lattice of bodies that overlap or nearly touch, above a bumpy floor, under gravity, each in contact with
 * its neighbours along the axes. Feasible: nothing holds them from above. */
typedef struct HeapOptions {
    uint64_t seed;
    int nx, ny, nz;
    double mu;         /* contacts have 0.5 to 1.5 times this; 0: one row per contact */
    double compliance; /* of every second contact, 1/kg; masses are 0.5 to 2 kg */
    double general; /* share of the bodies that are no spheres: full inertia, arms off the normal */
} HeapOptions;

TestProblem make_heap(const HeapOptions *options);

/* Changes biases and free velocities of a matrix-free problem so that an optimum is known, under ccp on the disc: some
 * bodies rest, others move; contacts between resting bodies stick or are open, the others slide or separate. Sets gamma
 * and gradient. */
void plant_optimum(TestProblem *problem, uint64_t seed);

/* An explicit problem with a known optimum: a sparse positive definite matrix with blocks of `rows`, and q from a
 * Moreau decomposition: random z, gamma = P(z), slack gamma - z in the dual cone, q = slack - N gamma. */
TestProblem make_explicit(uint64_t seed, int blocks, int rows);

/* The problem of `def` as an explicit one with the matrix N + E; friction models are not copied. */
TestProblem make_dense_copy(const TalusProblemDef *def);

/* A row of spheres between two fixed walls that stand too close: no velocity satisfies all contacts. */
TestProblem make_wedge(double mu, int spheres);

/* Two matrix-free problems as one, without contacts between them; the bodies and contacts of a come first. */
TestProblem make_union(const TalusProblemDef *a, const TalusProblemDef *b);

/* `count` spheres on top of each other, the last, on top, `ratio` times as heavy as the others. */
TestProblem make_column(int count, double ratio, double mu);

/* A heavy sphere that rests in a bowl lined with `count` small ones. */
TestProblem make_bowl(int count, double mu, double compliance);

/* Explicit problems and heaps with a known optimum. */
void make_known(TestProblem out[KNOWN_PROBLEMS]);
/* Steps of small worlds: beds, stacks, piles, rigid and slightly compliant. */
void make_extracted(TestProblem out[EXTRACTED_PROBLEMS]);

#endif
