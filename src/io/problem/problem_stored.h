/* io/problem/problem_stored.h - structs of a problem file; docs/reference/problem-file.md has the format. */
#ifndef TALUS_IO_PROBLEM_PROBLEM_STORED_H
#define TALUS_IO_PROBLEM_PROBLEM_STORED_H

#include "base/status.h"

#include <talus/problem.h>

/* Form in which the file gives the problem: bodies and contacts, or a sparse matrix. */
enum { FORM_BODIES = 1, FORM_MATRIX = 2 };

/* Flags of the optional arrays that the file has. HAS_RADIUS exists since version 1, HAS_CERTIFICATE since 3, the
 * others since 2. HAS_MOMENTS: the array of TalusStoredMoments. */
enum { HAS_RADIUS = 1, HAS_MODELS = 2, HAS_MOMENTS = 4, HAS_ESTIMATE = 8, HAS_CERTIFICATE = 16 };

/* First bytes of a file. */
typedef struct TalusProblemHeader {
    char magic[8];                       /* TALUS_PROBLEM_MAGIC */
    uint32_t version, form, rows, flags; /* form: FORM_...; rows: rows per block; flags: HAS_... */
    uint64_t bodies, blocks, nonzeros;   /* nonzeros: entries of the matrix, 0 in FORM_BODIES */
    /* bytes after the header and their checksum; checksum of the header up to here */
    uint64_t payload_size, payload_hash, header_hash;
} TalusProblemHeader;

/* A contact without friction model and moments, which are arrays of their own that a file may lack. */
typedef struct TalusStoredContact {
    int32_t a, b; /* bodies; b = -1: the fixed world */
    TalusVec3 normal, arm_a, arm_b;
    double mu, bias, compliance;
} TalusStoredContact;

/* Friction model of a block: TalusSection, TalusFrictionLaw, and the number of sides of a polygon. */
typedef struct TalusStoredModel {
    int32_t section, law, sides;
} TalusStoredModel;

/* Friction against spinning and rolling of a contact, as in TalusContactDef. */
typedef struct TalusStoredMoments {
    double spinning, rolling, length;
} TalusStoredMoments;

_Static_assert(sizeof(TalusProblemHeader) == 72, "the header is written as it lies in memory");
_Static_assert(sizeof(TalusStoredContact) == 104, "contacts are written as they lie in memory");
_Static_assert(sizeof(TalusStoredModel) == 12, "models are written as they lie in memory");
_Static_assert(sizeof(TalusStoredMoments) == 24, "moments are written as they lie in memory");
_Static_assert(sizeof(TalusSym3) == 48, "inertias are written as they lie in memory");

/* Content of a problem file; pointers of absent arrays are NULL. */
typedef struct TalusProblemContent {
    /* its contacts and models are, in reading, converted from those below; in writing, those below from these */
    TalusProblemDef def;
    const TalusStoredContact *contacts;           /* [blocks], in FORM_BODIES */
    const TalusStoredModel *models;               /* [blocks] */
    const TalusStoredMoments *moments;            /* [blocks] */
    const double *gamma, *estimate, *certificate; /* [rows blocks], [blocks], [rows blocks] */
} TalusProblemContent;

/* ---- problem_check.c ---- */
/* Fails, naming array and index, if an index is out of range or a number is not valid for a problem. */
TalusStatus talus_problem_check(const char *path, const TalusProblemHeader *header,
                                const TalusProblemContent *content);

#endif
