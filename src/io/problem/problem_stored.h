/* io/problem/problem_stored.h - structs of a problem file; docs/reference/problem-file.md has the format. */
#ifndef TALUS_IO_PROBLEM_PROBLEM_STORED_H
#define TALUS_IO_PROBLEM_PROBLEM_STORED_H

#include "base/status.h"

#include <talus/problem.h>

/* Form of the problem after the header. */
enum { FORM_BODIES = 1, FORM_MATRIX = 2 };

/* Flags of the optional arrays in the file. HAS_RADIUS is of version 1, HAS_CERTIFICATE of 3, others of 2. */
enum { HAS_RADIUS = 1, HAS_MODELS = 2, HAS_TURNING = 4, HAS_ESTIMATE = 8, HAS_CERTIFICATE = 16 };

typedef struct TalusProblemHeader {
    char magic[8];
    uint32_t version, form, rows, flags;
    uint64_t bodies, blocks, nonzeros;
    uint64_t payload_size, payload_hash, header_hash;
} TalusProblemHeader;

/* The other members of TalusContactDef are in separate arrays, so that no padding is written. */
typedef struct TalusStoredContact {
    int32_t a, b;
    TalusVec3 normal, arm_a, arm_b;
    double mu, bias, compliance;
} TalusStoredContact;

typedef struct TalusStoredModel {
    int32_t section, law, sides;
} TalusStoredModel;

typedef struct TalusStoredMoments {
    double spinning, rolling, length;
} TalusStoredMoments;

_Static_assert(sizeof(TalusProblemHeader) == 72, "the header is written as they lie in memory");
_Static_assert(sizeof(TalusStoredContact) == 104, "contacts are written as they lie in memory");
_Static_assert(sizeof(TalusStoredModel) == 12, "models are written as they lie in memory");
_Static_assert(sizeof(TalusStoredMoments) == 24, "moments are written as they lie in memory");
_Static_assert(sizeof(TalusSym3) == 48, "inertias are written as they lie in memory");

/* A problem as its file stores it. */
typedef struct TalusProblemContent {
    TalusProblemDef def; /* without contacts and models, which follow */
    const TalusStoredContact *contacts;
    const TalusStoredModel *models;
    const TalusStoredMoments *moments;
    const double *gamma, *estimate, *certificate;
} TalusProblemContent;

/* ---- problem_check.c ---- */
/* Fails, naming array and index, if an index is out of range or a number is not valid for a problem. */
TalusStatus talus_problem_check(const char *path, const TalusProblemHeader *header,
                                const TalusProblemContent *content);

#endif
