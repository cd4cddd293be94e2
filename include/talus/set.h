/* talus/set.h - admissible sets of one block of impulses. */
#ifndef TALUS_SET_H
#define TALUS_SET_H

#ifdef __cplusplus
extern "C" {
#endif

/* The section of a friction set: the tangential impulses that a normal impulse allows, for mu = 1. */
typedef enum TalusSection {
    TALUS_SECTION_DISC,   /* |t| <= n */
    TALUS_SECTION_SQUARE, /* |t1| <= n and |t2| <= n: circumscribes the disc (preclik-2009) */
    TALUS_SECTION_POLYGON, /* regular, its corners on the disc's rim, the first along t1 (petra-2009) */
    TALUS_SECTION_NONE, /* no tangential impulses */
    TALUS_SECTIONS
} TalusSection;

/* How tangential impulses are tied to the normal one. */
typedef enum TalusFrictionLaw {
    TALUS_LAW_CCP,     /* convex relaxation over the cone on the section: dilates by mu |u_t| */
    TALUS_LAW_FIXED,   /* bounds from an estimate of the normal impulse: box, prism, cylinder */
    TALUS_LAW_COULOMB, /* exact: bounds from the normal impulse itself, no dilation */
    TALUS_LAWS
} TalusFrictionLaw;

/* The friction of a contact but for its coefficient. All zeros: the circular cone of the relaxation. */
typedef struct TalusFrictionModel {
    TalusSection section;
    TalusFrictionLaw law;
    int sides; /* of the polygon, 3 to 64; 0 for the others */
} TalusFrictionModel;

typedef enum TalusSetKind {
    TALUS_SET_NONNEG, /* one row: gamma_n >= 0 */
    TALUS_SET_CONE,   /* three rows: |gamma_t| <= mu gamma_n (the disc section) */
    TALUS_SET_KINDS
} TalusSetKind;

const char *talus_set_name(TalusSetKind kind);
const char *talus_set_summary(TalusSetKind kind);
int talus_set_rows(TalusSetKind kind);

/* Euclidean projection of one block, in place. `mu` is ignored where the set has none. */
void talus_set_project(TalusSetKind kind, double mu, double *gamma);

#ifdef __cplusplus
}
#endif

#endif
