/* solvers/pivot/lcp_work.h - what the solvers of a contact problem's linear complementarity problem (lemke_lcp.h)
 * share: the LCP itself, the measuring of its points as impulses, proofs of infeasibility, and the result.
 *
 * The driver's monitor of infeasibility is switched off: impulses may grow along a path of bases or in a Newton step
 * without meaning anything. A solver that comes upon a direction which may be a proof asks talus_lcp_work_prove. */
#ifndef TALUS_SOLVERS_PIVOT_LCP_WORK_H
#define TALUS_SOLVERS_PIVOT_LCP_WORK_H

#include "solvers/driver/best.h"
#include "solvers/driver/certificate.h"
#include "solvers/pivot/lemke_lcp.h"

/* The problems that these solvers take: without friction, and polygons and squares under ccp and Coulomb's law. */
#define TALUS_LCP_TAKES                                                          \
    (TALUS_TAKES_NONNEG | TALUS_TAKES(CCP, SQUARE) | TALUS_TAKES(CCP, POLYGON) | \
     TALUS_TAKES(COULOMB, SQUARE) | TALUS_TAKES(COULOMB, POLYGON))

/* The parameter max_unknowns of a solver whose struct of parameters has a field of that name. */
#define TALUS_LCP_MAX_UNKNOWNS(Struct)              \
    TALUS_INT(Struct, max_unknowns, 2000, 1, 20000, \
              "unknowns of the LCP above which the problem is refused")

/* Vectors of TalusLcpWork. OFFSET: the problem's q; IMPULSE: impulses measured last; RAY: a direction that may prove
 * infeasibility, then work space. */
enum { TALUS_LCP_OFFSET, TALUS_LCP_IMPULSE, TALUS_LCP_RAY, TALUS_LCP_VECTORS };

typedef struct TalusLcpWork {
    TalusContactLcp problem;
    TalusVectors memory;
    double *vector[TALUS_LCP_VECTORS];
    TalusBest best;
    TalusCertificateWork certificate;
} TalusLcpWork;

/* Fails if the LCP has more than max_unknowns unknowns; else fills it and reports the given impulses, projected, as the
 * first iteration. *again: false if they end the solve. */
TalusStatus talus_lcp_work_begin(TalusLcpWork *w, TalusSolve *solve, int max_unknowns, bool *again);
/* Measures the impulses of z, projected, offers them as the best iterate and reports them as one iteration with one
 * product. True if the solve must go on. */
bool talus_lcp_work_report(TalusLcpWork *w, TalusSolve *solve, const double *z);
/* Searches near the impulses of the direction z for a proof that there is no solution, and sets the outcome infeasible
 * if there is one. Returns true in that case. */
bool talus_lcp_work_prove(TalusLcpWork *w, TalusSolve *solve, const double *z);
/* Writes the impulses measured last to gamma, or the best ones if the outcome is budget or infeasible. `unsolved`: the
 * method has come to its end and the driver has not ended the solve; the outcome becomes budget. */
void talus_lcp_work_end(TalusLcpWork *w, TalusSolve *solve, bool unsolved);
/* Releases the LCP. */
void talus_lcp_work_clear(TalusLcpWork *w);

/* Writes the unknowns of the impulses measured last, [n], all >= 0, as a start: weights of at most four corners, and
 * the slip speed of the contact velocity. Takes one product. */
void talus_lcp_work_get_start(TalusLcpWork *w, TalusSolve *solve, double *z);

#endif
