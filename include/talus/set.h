/* talus/set.h - admissible sets of one block of impulses: friction models by section and law. */
#ifndef TALUS_SET_H
#define TALUS_SET_H

#include <talus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Section of a friction set: tangential impulses t allowed by a normal impulse n, for mu = 1. */
typedef enum TalusSection {
    TALUS_SECTION_DISC,    /* |t| <= n */
    TALUS_SECTION_SQUARE,  /* |t1| <= n and |t2| <= n: circumscribes the disc (preclik-2009) */
    TALUS_SECTION_POLYGON, /* regular, corners on the disc's rim, the first along t1 (petra-2009) */
    TALUS_SECTION_NONE,    /* no tangential impulses */
    /* A joint, not friction: |gamma_k| <= mu, which may be infinite, in the rows k = 0 (normal) to 2 with bit k in
     * `sides`; gamma_k = 0 in the others. Under TALUS_LAW_CCP only. All sections before it are friction. */
    TALUS_SECTION_JOINT,
    TALUS_SECTIONS
} TalusSection;

/* How the normal impulse bounds the tangential ones. */
typedef enum TalusFrictionLaw {
    TALUS_LAW_CCP, /* convex relaxation, cone over the section: opens by mu |u_t| (disc) while sliding */
    TALUS_LAW_FIXED,   /* bounds from an estimate of the normal impulse: box, prism, cylinder */
    TALUS_LAW_COULOMB, /* exact: bounds from the normal impulse itself, no dilation */
    TALUS_LAWS
} TalusFrictionLaw;

/* Bit of a friction law with a section, for sets of kinds such as TalusSolverRow.takes. */
#define TALUS_KIND(law, section) (1u << ((law)*TALUS_SECTIONS + (section)))

/* Friction model of a contact, without its coefficient. All zeros: the circular cone of ccp. */
typedef struct TalusFrictionModel {
    TalusSection section;
    TalusFrictionLaw law;
    int sides; /* sides of a polygon, 3 to 64; row bits of a joint, 1 to 7; else 0 */
} TalusFrictionModel;

enum { TALUS_SIDES_MIN = 3, TALUS_SIDES_MAX = 64 };

/* TalusFrictionModel.sides of a joint in which all three rows are constrained. */
enum { TALUS_JOINT_ROWS = 7 };

/* Names ("disc", "square", "polygon", "none", "joint"; "ccp", "fixed", "coulomb") and one-line summaries. */
TALUS_API const char *talus_section_name(TalusSection section);
TALUS_API const char *talus_section_summary(TalusSection section);
TALUS_API const char *talus_law_name(TalusFrictionLaw law);
TALUS_API const char *talus_law_summary(TalusFrictionLaw law);

/* Parse "disc", "square", "polygon:6" or "none" into section and sides, and "ccp", "fixed" or "coulomb" into law. The
 * rest of the model stays. */
TALUS_API TalusStatus talus_section_parse(const char *text, TalusFrictionModel *model);
TALUS_API TalusStatus talus_law_parse(const char *text, TalusFrictionModel *model);
/* Writes the section to text[size] as talus_section_parse takes it, such as "polygon:6"; a joint, which it does not
 * take, as "joint:7". */
TALUS_API void talus_section_format(TalusFrictionModel model, char *text, size_t size);

/* Fails if the model is not one of friction: a value outside the enumerations, wrong sides, or a joint. */
TALUS_API TalusStatus talus_model_check(TalusFrictionModel model);

/* Projects one block of 1, 3 or 6 rows in place (Euclidean): onto the cone (ccp, coulomb), onto the prism with the
 * bounds of the normal impulse `estimate` (fixed), or onto the box of a joint. `moment_mu`: coefficients of spinning
 * and rolling friction for 6 rows, else NULL. One row is projected onto the half line under every model. */
TALUS_API void talus_set_project(TalusFrictionModel model, int rows, double mu,
                                 const double *moment_mu, double estimate, double *gamma);

#ifdef __cplusplus
}
#endif

#endif
