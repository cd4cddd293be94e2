/* lab/lab_store.c - reads results.json, which lab_json.c writes, into LabSet.stored. */
#include "lab.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/text/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STORE_LIMIT = 1 << 30 };

/* Returns the number at `key`; NAN for null, as which NaN is written, for a missing key, and if `object` is NULL. */
static double real_of(const TalusJson *object, const char *key)
{
    const TalusJson *value = object ? talus_json_get(object, key) : NULL;
    return value && value->kind == TALUS_JSON_NUMBER ? value->number : NAN;
}

static int whole(const TalusJson *value)
{
    double x = value && value->kind == TALUS_JSON_NUMBER ? value->number : NAN;
    return x >= -2147483648.0 && x <= 2147483647.0 ? (int)x : 0; /* 0: no number, or beyond int */
}

static int int_of(const TalusJson *object, const char *key)
{
    return whole(object ? talus_json_get(object, key) : NULL);
}

/* Copies the string at `key`; if it is missing, no string or too long for `size`, writes "" and returns false. */
static bool text_of(const TalusJson *object, const char *key, char *out, size_t size)
{
    const TalusJson *value = talus_json_get(object, key);
    bool found = value && value->kind == TALUS_JSON_STRING && strlen(value->text) < size;
    strcpy(out, found ? value->text : "");
    return found;
}

static bool outcome_of(const TalusJson *run, LabOutcome *out)
{
    char name[32];
    if (!text_of(run, "outcome", name, sizeof name))
        return false;
    for (int i = 0; i < LAB_OUTCOMES; i++)
        if (strcmp(name, lab_outcome_name((LabOutcome)i)) == 0) {
            *out = (LabOutcome)i;
            return true;
        }
    return false;
}

static const TalusJson *array_of(const TalusJson *object, const char *key)
{
    const TalusJson *value = object ? talus_json_get(object, key) : NULL;
    return value && value->kind == TALUS_JSON_ARRAY ? value : NULL;
}

/* Reads a trace, which may be empty; false if a column is missing or shorter or longer than the first. */
static bool read_trace(const TalusJson *run, LabTrace *out)
{
    const TalusJson *trace = talus_json_get(run, "trace");
    const TalusJson *first = array_of(trace, lab_columns[0].name);
    int count = first ? first->count : 0;
    if (count == 0)
        return first != NULL;
    out->row = malloc((size_t)count * sizeof *out->row);
    if (!out->row)
        return false;
    out->count = out->capacity = count;
    for (int c = 0; c < LAB_COLUMNS; c++) {
        const TalusJson *column = array_of(trace, lab_columns[c].name);
        if (!column || column->count != count)
            return false;
        int k = 0;
        for (const TalusJson *x = column->first; x; x = x->next)
            out->row[k++][c] = x->kind == TALUS_JSON_NUMBER ? x->number : NAN;
    }
    return true;
}

static bool read_impulses(const TalusJson *run, LabResult *out)
{
    const TalusJson *impulses = talus_json_get(run, "impulses");
    const TalusJson *rank = array_of(impulses, "rank"), *value = array_of(impulses, "value");
    if (!rank || !value || rank->count != value->count || rank->count > LAB_IMPULSES)
        return false;
    const TalusJson *r = rank->first, *v = value->first;
    for (int k = 0; k < rank->count; k++, r = r->next, v = v->next) {
        out->impulse_rank[k] = whole(r);
        out->impulse[k] = v->kind == TALUS_JSON_NUMBER ? v->number : NAN;
    }
    out->impulse_count = rank->count;
    return true;
}

static void read_terms(const TalusJson *run, LabResult *out)
{
    char start[16], measure[16];
    text_of(run, "start", start, sizeof start);
    text_of(run, "measure", measure, sizeof measure);
    out->tolerance = real_of(run, "tolerance");
    out->max_iterations = int_of(run, "max_iterations");
    out->max_seconds = real_of(run, "max_seconds"); /* NAN, for null, means no limit as 0 does */
    out->threads = int_of(run, "threads");
    out->warm = strcmp(start, "stored") == 0;
    text_of(run, "backend", out->backend, sizeof out->backend);
    text_of(run, "law", out->law, sizeof out->law);
    text_of(run, "section", out->section, sizeof out->section);
    text_of(run, "outer", out->outer, sizeof out->outer);
    out->siconos = strcmp(measure, "siconos") == 0;
}

static bool read_run(const TalusJson *run, LabResult *out)
{
    const TalusJson *interrupted = talus_json_get(run, "interrupted");
    const TalusJson *residual = talus_json_get(run, "residual");
    const TalusJson *contacts = talus_json_get(run, "contacts");
    *out = (LabResult){.problem = int_of(run, "problem"),
                       .interrupted = interrupted && interrupted->kind == TALUS_JSON_TRUE,
                       .iterations = int_of(run, "iterations"),
                       .applies = int_of(run, "applies"),
                       .updates = int_of(run, "updates"),
                       .factorisations = int_of(run, "factorisations"),
                       .seconds = real_of(run, "seconds"),
                       .objective = real_of(run, "objective"),
                       .memory_bytes = real_of(run, "memory_bytes"),
                       .open = int_of(contacts, "open"),
                       .sliding = int_of(contacts, "sliding"),
                       .sticking = int_of(contacts, "sticking")};
    for (int i = 0; i < LAB_RESIDUALS; i++)
        out->residual[i] = real_of(residual, lab_residuals[i].name);
    text_of(run, "reason", out->reason, sizeof out->reason);
    text_of(run, "ran", out->ran, sizeof out->ran);
    read_terms(run, out);
    return residual && text_of(run, "solver", out->solver, sizeof out->solver) &&
           text_of(run, "key", out->key, sizeof out->key) && outcome_of(run, &out->outcome) &&
           read_impulses(run, out) && read_trace(run, &out->trace);
}

/* Appends results to set->stored; skips those that were interrupted or are incomplete, so that their jobs run again.
 * `runs` NULL: none. */
static void read_array(LabSet *set, const TalusJson *runs)
{
    for (const TalusJson *run = runs ? runs->first : NULL; run; run = run->next) {
        LabResult *out = &set->stored[set->stored_count];
        if (run->kind == TALUS_JSON_OBJECT && read_run(run, out) && !out->interrupted)
            set->stored_count++;
        else
            lab_result_clear(out);
    }
}

static TalusStatus read_runs(LabSet *set, const TalusJson *root, const char *path)
{
    bool object = root->kind == TALUS_JSON_OBJECT;
    const TalusJson *runs = object ? array_of(root, "runs") : NULL;
    const TalusJson *earlier = object ? array_of(root, "earlier") : NULL;
    if (!runs)
        return talus_fail_file(path, TALUS_ERR_FORMAT, "holds no results of Talus");
    text_of(root, "title", set->stored_title, sizeof set->stored_title);
    size_t count = (size_t)runs->count + (size_t)(earlier ? earlier->count : 0);
    TALUS_TRY(TALUS_ALLOC(set->stored, count, "results"));
    read_array(set, runs);
    read_array(set, earlier);
    return TALUS_OK;
}

static TalusStatus parse_store(LabSet *set, const char *path)
{
    TalusArena arena = {0};
    TalusJson *root;
    char *text;
    size_t size;
    TALUS_TRY(talus_read_file(path, STORE_LIMIT, &text, &size));
    TalusStatus status = talus_json_parse(&arena, text, size, path, false, &root);
    TALUS_THEN(status, read_runs(set, root, path));
    talus_arena_clear(&arena);
    talus_release(text);
    return status == TALUS_ERR_FORMAT
               ? talus_fail_file(path, status, "%s; --fresh starts anew and overwrites it",
                                 talus_error_reason())
               : status;
}

TalusStatus lab_store_read(LabSet *set)
{
    char *path;
    TALUS_TRY(talus_path_format(&path, "%s/" LAB_STORE_NAME, set->dir));
    TalusStatus status = access(path, F_OK) == 0 ? parse_store(set, path) : TALUS_OK;
    talus_release(path);
    return status;
}
