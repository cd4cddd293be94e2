/* io/problem/problem_check.c - checks of the indices and numbers of a problem file, for problem_file.c. */
#include "io/problem/problem_stored.h"

#include "sets/set.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static TalusStatus fail_element(const char *path, const char *array, uint64_t i, const char *format,
                                ...) TALUS_PRINTF(4, 5);

/* Fails at an element of an array: the text begins with "FILE: array[i]", and the key is "array[i]". */
static TalusStatus fail_element(const char *path, const char *array, uint64_t i, const char *format,
                                ...)
{
    char element[64], text[400];
    TALUS_FORMAT(text, format);
    snprintf(element, sizeof element, "%s[%" PRIu64 "]", array, i);
    return talus_error_key(element, talus_fail_file(path, TALUS_ERR_FORMAT, "%s%s", element, text));
}

/* Fails unless all numbers are finite and at least `min`, which is 0 or -INFINITY. */
static TalusStatus check_numbers(const char *path, const char *name, const double *x,
                                 uint64_t count, double min)
{
    for (uint64_t i = 0; i < count; i++)
        if (!isfinite(x[i]) || x[i] < min)
            return fail_element(path, name, i, " is %g: expected a %s number", x[i],
                                min == 0.0 ? "non-negative" : "finite");
    return TALUS_OK;
}

/* True if mu of block i may be infinite: the block is of a joint, whose bound mu is. */
static bool may_have_infinite_mu(const TalusProblemContent *content, uint64_t i)
{
    return content->models && content->models[i].section == TALUS_SECTION_JOINT;
}

/* Checks bodies, vectors and coefficients of contact i; `bodies` is the number of bodies. */
static TalusStatus check_contact(const char *path, const TalusProblemContent *content, uint64_t i,
                                 int64_t bodies)
{
    const TalusStoredContact *c = &content->contacts[i];
    const double *vectors = &c->normal.x;
    if (c->a < 0 || c->a >= bodies || c->b < -1 || c->b >= bodies || c->a == c->b)
        return fail_element(path, "contacts", i,
                            " joins bodies %" PRId32 " and %" PRId32 ": expected two of %" PRId64
                            ", or -1 in b",
                            c->a, c->b, bodies);
    for (int k = 0; k < 9; k++)
        if (!isfinite(vectors[k]))
            return fail_element(path, "contacts", i,
                                ": normal and arms: number %d is %g: expected a finite number", k,
                                vectors[k]);
    if (fabs(talus_dot(c->normal, c->normal) - 1.0) > 1e-6)
        return fail_element(path, "contacts", i, ": the normal's length is %g: expected 1",
                            talus_norm(c->normal));
    if (!(c->mu >= 0.0 && (isfinite(c->mu) || may_have_infinite_mu(content, i)) &&
          c->compliance >= 0.0 && isfinite(c->compliance) && isfinite(c->bias)))
        return fail_element(path, "contacts", i,
                            ": mu %g, bias %g, compliance %g: expected finite numbers, mu and "
                            "compliance not negative",
                            c->mu, c->bias, c->compliance);
    return TALUS_OK;
}

/* Checks each friction model, the coefficients of moments and the estimates, where the file has them. Whether the
 * models of all blocks can be in one problem is checked by talus_problem_create. */
static TalusStatus check_optional_arrays(const char *path, const TalusProblemHeader *h,
                                         const TalusProblemContent *content)
{
    for (uint64_t i = 0; content->models && i < h->blocks; i++) {
        const TalusStoredModel *m = &content->models[i];
        TalusFrictionModel model = {(TalusSection)m->section, (TalusFrictionLaw)m->law, m->sides};
        if (talus_set_check(model) != TALUS_OK)
            return fail_element(path, "models", i, ": %s", talus_error());
    }
    for (uint64_t i = 0; content->moments && i < h->blocks; i++) {
        const TalusStoredMoments *t = &content->moments[i];
        bool turns = t->spinning > 0.0 || t->rolling > 0.0;
        if (!(t->spinning >= 0.0 && t->rolling >= 0.0 && t->length >= 0.0 &&
              isfinite(t->spinning) && isfinite(t->rolling) && isfinite(t->length)) ||
            (turns && !(t->length > 0.0)))
            return fail_element(path, "moments", i,
                                ": spinning %g, rolling %g, length %g: expected finite numbers, "
                                "not negative, and a length with friction",
                                t->spinning, t->rolling, t->length);
    }
    if (content->estimate)
        TALUS_TRY(check_numbers(path, "estimate", content->estimate, h->blocks, 0.0));
    return TALUS_OK;
}

/* Checks bodies and contacts of a file of form FORM_BODIES. */
static TalusStatus check_bodies(const char *path, const TalusProblemHeader *h,
                                const TalusProblemContent *content)
{
    const TalusProblemDef *def = &content->def;
    TALUS_TRY(check_numbers(path, "inv_mass", def->inv_mass, h->bodies, 0.0));
    if (h->bodies)
        TALUS_TRY(
            check_numbers(path, "inv_inertia", &def->inv_inertia->xx, 6 * h->bodies, -INFINITY));
    if (def->radius)
        TALUS_TRY(check_numbers(path, "radius", def->radius, h->bodies, 0.0));
    TALUS_TRY(check_numbers(path, "free_velocity", def->free_velocity, 6 * h->bodies, -INFINITY));
    for (uint64_t i = 0; i < h->blocks; i++)
        TALUS_TRY(check_contact(path, content, i, (int64_t)h->bodies));
    return TALUS_OK;
}

/* Checks that row starts go from 0 to the number of entries and never fall, and that columns rise within each row. */
static TalusStatus check_pattern(const char *path, const TalusProblemHeader *h,
                                 const TalusProblemDef *def)
{
    uint64_t size = h->rows * h->blocks;
    const int32_t *start = def->row_start;
    if (start[0] != 0 || (uint64_t)start[size] != h->nonzeros)
        return talus_fail_file(path, TALUS_ERR_FORMAT,
                               "row_start runs from %" PRId32 " to %" PRId32
                               ": expected 0 to %" PRIu64,
                               start[0], start[size], h->nonzeros);
    for (uint64_t r = 0; r < size; r++)
        if (start[r + 1] < start[r])
            return fail_element(path, "row_start", r + 1, " falls from %" PRId32 " to %" PRId32,
                                start[r], start[r + 1]);
    for (uint64_t r = 0; r < size; r++)
        for (int32_t k = start[r]; k < start[r + 1]; k++)
            if (def->column[k] < 0 || (uint64_t)def->column[k] >= size ||
                (k > start[r] && def->column[k] <= def->column[k - 1]))
                return fail_element(path, "column", (uint64_t)k,
                                    " is %" PRId32 ": expected rising columns below %" PRIu64
                                    " in row %" PRIu64,
                                    def->column[k], size, r);
    return TALUS_OK;
}

/* Checks matrix, offset and mu of a file of form FORM_MATRIX. */
static TalusStatus check_matrix(const char *path, const TalusProblemHeader *h,
                                const TalusProblemContent *content)
{
    const TalusProblemDef *def = &content->def;
    TALUS_TRY(check_pattern(path, h, def));
    TALUS_TRY(check_numbers(path, "values", def->values, h->nonzeros, -INFINITY));
    TALUS_TRY(check_numbers(path, "offset", def->offset, h->rows * h->blocks, -INFINITY));
    for (uint64_t i = 0; h->rows == 3 && i < h->blocks; i++)
        if (!(def->mu[i] >= 0.0) || (isinf(def->mu[i]) && !may_have_infinite_mu(content, i)))
            return fail_element(path, "mu", i, " is %g: expected a non-negative number",
                                def->mu[i]);
    return TALUS_OK;
}

TalusStatus talus_problem_check(const char *path, const TalusProblemHeader *h,
                                const TalusProblemContent *content)
{
    uint64_t size = h->rows * h->blocks;
    TALUS_TRY(h->form == FORM_MATRIX ? check_matrix(path, h, content)
                                     : check_bodies(path, h, content));
    TALUS_TRY(check_optional_arrays(path, h, content));
    TALUS_TRY(check_numbers(path, "gamma", content->gamma, size, -INFINITY));
    if (content->certificate)
        TALUS_TRY(check_numbers(path, "certificate", content->certificate, size, -INFINITY));
    return TALUS_OK;
}
