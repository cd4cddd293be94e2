/* io/problem/problem_stored.h - a problem as its file has it; docs/reference/problem-file.md has the format. */
#ifndef TALUS_IO_PROBLEM_PROBLEM_STORED_H
#define TALUS_IO_PROBLEM_PROBLEM_STORED_H

#include "base/status.h"

#include <talus/problem.h>

/* What follows the header. */
enum { FORM_BODIES = 1, FORM_MATRIX = 2 };

/* Flags: which optional arrays are there. The first is version 1's, the last version 3's. */
enum { HAS_RADIUS = 1, HAS_MODELS = 2, HAS_TURNING = 4, HAS_ESTIMATE = 8, HAS_CERTIFICATE = 16 };

typedef struct TalusProblemHeader {
    char magic[8];
    uint32_t version, form, rows, flags;
    uint64_t bodies, blocks, nonzeros;
    uint64_t payload_size, payload_hash, header_hash;
} TalusProblemHeader;

/* What a TalusContactDef has beyond these is in arrays of their own, so that no padding is written. */
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

_Static_assert(sizeof(TalusProblemHeader) == 72, "the header is written as it lies in memory");
_Static_assert(sizeof(TalusStoredContact) == 104, "contacts are written as they lie in memory");
_Static_assert(sizeof(TalusStoredModel) == 12, "models are written as they lie in memory");
_Static_assert(sizeof(TalusStoredMoments) == 24,
               "turning friction is written as it lies in memory");
_Static_assert(sizeof(TalusSym3) == 48, "inertias are written as they lie in memory");

/* A problem in the terms of the file. */
typedef struct TalusProblemContent {
    TalusProblemDef def; /* but contacts and models, which are in what follows */
    const TalusStoredContact *contacts;
    const TalusStoredModel *models;
    const TalusStoredMoments *turning;
    const double *gamma, *estimate, *certificate;
} TalusProblemContent;

/* ---- problem_check.c ---- */
/* Fails, with the array and the index, where an index is out of range or a number is none that the problem can have. */
TalusStatus talus_problem_check(const char *path, const TalusProblemHeader *header,
                                const TalusProblemContent *content);

#endif
