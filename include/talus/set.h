/* talus/set.h - admissible sets of one block of impulses. */
#ifndef TALUS_SET_H
#define TALUS_SET_H

#ifdef __cplusplus
extern "C" {
#endif

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
