/* talus/set.h - admissible sets of one block of impulses: friction models by section and law. */
#ifndef TALUS_SET_H
#define TALUS_SET_H

#include <talus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The section of a friction set: the tangential impulses that a normal impulse allows, for mu = 1. */
typedef enum TalusSection {
    TALUS_SECTION_DISC,   /* |t| <= n */
    TALUS_SECTION_SQUARE, /* |t1| <= n and |t2| <= n: circumscribes the disc (preclik-2009) */
    TALUS_SECTION_POLYGON, /* regular, its corners on the disc's rim, the first along t1 (petra-2009) */
    TALUS_SECTION_NONE, /* no tangential impulses */
    TALUS_SECTION_JOINT, /* no friction but a joint: |gamma_k| <= mu, which may be infinite, in the rows
                            that `sides` has the bit k of, 0 (normal) to 2; 0 in the others. Under
                            TALUS_LAW_CCP only. The sections of friction are those before it */
    TALUS_SECTIONS
} TalusSection;

/* How tangential impulses are tied to the normal one. */
typedef enum TalusFrictionLaw {
    TALUS_LAW_CCP,     /* convex relaxation over the cone on the section: dilates by mu |u_t| */
    TALUS_LAW_FIXED,   /* bounds from an estimate of the normal impulse: box, prism, cylinder */
    TALUS_LAW_COULOMB, /* exact: bounds from the normal impulse itself, no dilation */
    TALUS_LAWS
} TalusFrictionLaw;

/* Law and section as one bit. */
#define TALUS_KIND(law, section) (1u << ((law)*TALUS_SECTIONS + (section)))

/* The friction of a contact but for its coefficient. All zeros: the circular cone of the relaxation. */
typedef struct TalusFrictionModel {
    TalusSection section;
    TalusFrictionLaw law;
    int sides; /* of the polygon, 3 to 64; the rows of a joint, 1 to 7; 0 for the others */
} TalusFrictionModel;

enum { TALUS_SIDES_MIN = 3, TALUS_SIDES_MAX = 64 };

/* All rows of a joint. */
enum { TALUS_JOINT_ROWS = 7 };

/* "disc", "square", "polygon", "none", "joint"; "ccp", "fixed", "coulomb"; and what they are in one line. */
const char *talus_section_name(TalusSection section);
const char *talus_section_summary(TalusSection section);
const char *talus_law_name(TalusFrictionLaw law);
const char *talus_law_summary(TalusFrictionLaw law);

/* "disc", "square", "polygon:6" or "none" into section and sides, joints being no friction; "ccp", "fixed"
 * or "coulomb" into law. The rest of the model stays. */
TalusStatus talus_section_parse(const char *text, TalusFrictionModel *model);
TalusStatus talus_law_parse(const char *text, TalusFrictionModel *model);
/* The section as talus_section_parse takes it, such as "polygon:6"; "joint:7" of a joint. */
void talus_section_format(TalusFrictionModel model, char *text, size_t size);

/* Fails where the model is none of friction: a name outside the enumerations, sides that the section has not,
 * a joint. */
TalusStatus talus_model_check(TalusFrictionModel model);

/* Euclidean projection of one block of 1, 3 or 6 rows, in place: onto the cone (ccp, coulomb), onto the
 * prism whose bounds are those of the normal impulse `estimate` (fixed), or onto the box of a joint. `turning`: coefficients of spinning
 * and rolling friction, for 6 rows; else NULL. One row is the half line, whatever the model. */
void talus_set_project(TalusFrictionModel model, int rows, double mu, const double *turning,
                       double estimate, double *gamma);

#ifdef __cplusplus
}
#endif

#endif
