/* lab/lab_store.c - reads results.json, which lab_json.c writes, into LabSet.stored. */
#include "lab.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/text/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STORE_LIMIT = 1 << 30 }; /* maximum bytes of results.json */

/* Returns the number at `key`; NAN if the value is null (which stands for NaN), the key is missing or `object` is
 * NULL. */
static double get_real(const TalusJson *object, const char *key)
{
    const TalusJson *value = object ? talus_json_get(object, key) : NULL;
    return value && value->kind == TALUS_JSON_NUMBER ? value->number : NAN;
}

/* Converts a JSON number; 0 if the value is no number or exceeds int. */
static int to_int(const TalusJson *value)
{
    double x = value && value->kind == TALUS_JSON_NUMBER ? value->number : NAN;
    return x >= -2147483648.0 && x <= 2147483647.0 ? (int)x : 0;
}

/* Returns the number at `key` as to_int does; 0 if the key is missing or `object` is NULL. */
static int get_int(const TalusJson *object, const char *key)
{
    return to_int(object ? talus_json_get(object, key) : NULL);
}

/* Copies the string at `key`; if it is missing, no string or too long for `size`, writes "" and returns false. */
static bool get_text(const TalusJson *object, const char *key, char *out, size_t size)
{
    const TalusJson *value = talus_json_get(object, key);
    bool found = value && value->kind == TALUS_JSON_STRING && strlen(value->text) < size;
    strcpy(out, found ? value->text : "");
    return found;
}

/* Reads the outcome by its name; returns false if it is missing or unknown. */
static bool get_outcome(const TalusJson *run, LabOutcome *out)
{
    char name[32];
    if (!get_text(run, "outcome", name, sizeof name))
        return false;
    for (int i = 0; i < LAB_OUTCOMES; i++)
        if (strcmp(name, lab_outcome_name((LabOutcome)i)) == 0) {
            *out = (LabOutcome)i;
            return true;
        }
    return false;
}

/* Returns the array at `key`; NULL: none. */
static const TalusJson *get_array(const TalusJson *object, const char *key)
{
    const TalusJson *value = object ? talus_json_get(object, key) : NULL;
    return value && value->kind == TALUS_JSON_ARRAY ? value : NULL;
}

/* Reads a trace, which may be empty; returns false if a column is missing or not as long as the first, or out of
 * memory. */
static bool read_trace(const TalusJson *run, LabTrace *out)
{
    const TalusJson *trace = talus_json_get(run, "trace");
    const TalusJson *first = get_array(trace, lab_columns[0].name);
    int count = first ? first->count : 0;
    if (count == 0)
        return first != NULL;
    out->row = malloc((size_t)count * sizeof *out->row);
    if (!out->row)
        return false;
    out->count = out->capacity = count;
    for (int c = 0; c < LAB_COLUMNS; c++) {
        const TalusJson *column = get_array(trace, lab_columns[c].name);
        if (!column || column->count != count)
            return false;
        int k = 0;
        for (const TalusJson *x = column->first; x; x = x->next)
            out->row[k++][c] = x->kind == TALUS_JSON_NUMBER ? x->number : NAN;
    }
    return true;
}

/* Reads the sample of normal impulses; returns false if it is missing or not valid. */
static bool read_impulses(const TalusJson *run, LabResult *out)
{
    const TalusJson *impulses = talus_json_get(run, "impulses");
    const TalusJson *rank = get_array(impulses, "rank"), *value = get_array(impulses, "value");
    if (!rank || !value || rank->count != value->count || rank->count > LAB_IMPULSES)
        return false;
    const TalusJson *r = rank->first, *v = value->first;
    for (int k = 0; k < rank->count; k++, r = r->next, v = v->next) {
        out->impulse_rank[k] = to_int(r);
        out->impulse[k] = v->kind == TALUS_JSON_NUMBER ? v->number : NAN;
    }
    out->impulse_count = rank->count;
    return true;
}

/* Reads the terms of the result; fields that the file lacks become 0, NAN or "". */
static void read_terms(const TalusJson *run, LabResult *out)
{
    char start[16], measure[16];
    get_text(run, "start", start, sizeof start);
    get_text(run, "measure", measure, sizeof measure);
    out->tolerance = get_real(run, "tolerance");
    out->max_iterations = get_int(run, "max_iterations");
    out->max_seconds = get_real(run, "max_seconds"); /* NAN, for null, means no limit as 0 does */
    out->threads = get_int(run, "threads");
    out->warm = strcmp(start, "stored") == 0;
    get_text(run, "backend", out->backend, sizeof out->backend);
    get_text(run, "law", out->law, sizeof out->law);
    get_text(run, "section", out->section, sizeof out->section);
    get_text(run, "outer", out->outer, sizeof out->outer);
    out->siconos = strcmp(measure, "siconos") == 0;
}

/* Reads a result; returns false if it is incomplete. The caller clears `out` then. */
static bool read_result(const TalusJson *run, LabResult *out)
{
    const TalusJson *interrupted = talus_json_get(run, "interrupted");
    const TalusJson *residual = talus_json_get(run, "residual");
    const TalusJson *contacts = talus_json_get(run, "contacts");
    *out = (LabResult){.problem = get_int(run, "problem"),
                       .interrupted = interrupted && interrupted->kind == TALUS_JSON_TRUE,
                       .iterations = get_int(run, "iterations"),
                       .products = get_int(run, "applies"),
                       .updates = get_int(run, "updates"),
                       .factorisations = get_int(run, "factorisations"),
                       .seconds = get_real(run, "seconds"),
                       .objective = get_real(run, "objective"),
                       .memory_bytes = get_real(run, "memory_bytes"),
                       .open = get_int(contacts, "open"),
                       .sliding = get_int(contacts, "sliding"),
                       .sticking = get_int(contacts, "sticking")};
    for (int i = 0; i < LAB_RESIDUALS; i++)
        out->residual[i] = get_real(residual, lab_residuals[i].name);
    get_text(run, "reason", out->reason, sizeof out->reason);
    get_text(run, "ran", out->auto_choice, sizeof out->auto_choice);
    read_terms(run, out);
    return residual && get_text(run, "solver", out->solver, sizeof out->solver) &&
           get_text(run, "key", out->key, sizeof out->key) && get_outcome(run, &out->outcome) &&
           read_impulses(run, out) && read_trace(run, &out->trace);
}

/* Appends the results in the array `runs` (NULL: none) to set->stored. Skips results that were interrupted or are
 * incomplete, so that their jobs run again. */
static void append_results(LabSet *set, const TalusJson *runs)
{
    for (const TalusJson *run = runs ? runs->first : NULL; run; run = run->next) {
        LabResult *out = &set->stored[set->stored_count];
        if (run->kind == TALUS_JSON_OBJECT && read_result(run, out) && !out->interrupted)
            set->stored_count++;
        else
            lab_result_clear(out);
    }
}

/* Reads the arrays "runs" and "earlier" and the title. */
static TalusStatus read_all_results(LabSet *set, const TalusJson *root, const char *path)
{
    bool object = root->kind == TALUS_JSON_OBJECT;
    const TalusJson *runs = object ? get_array(root, "runs") : NULL;
    const TalusJson *earlier = object ? get_array(root, "earlier") : NULL;
    if (!runs)
        return talus_fail_file(path, TALUS_ERR_FORMAT, "holds no results of Talus");
    get_text(root, "title", set->stored_title, sizeof set->stored_title);
    size_t count = (size_t)runs->count + (size_t)(earlier ? earlier->count : 0);
    TALUS_TRY(TALUS_ALLOC(set->stored, count, "results"));
    append_results(set, runs);
    append_results(set, earlier);
    return TALUS_OK;
}

/* Reads results.json by `read`; the message of a format error mentions --fresh. */
static TalusStatus parse_store(LabSet *set, const char *path, LabStoreReader *read)
{
    TalusArena arena = {0};
    TalusJson *root;
    char *text;
    size_t size;
    TALUS_TRY(talus_read_file(path, STORE_LIMIT, &text, &size));
    TalusStatus status = talus_json_parse(&arena, text, size, path, false, &root);
    TALUS_THEN(status, read(set, root, path));
    talus_arena_clear(&arena);
    talus_release(text);
    return status == TALUS_ERR_FORMAT
               ? talus_fail_file(path, status, "%s; --fresh starts anew and overwrites it",
                                 talus_error_reason())
               : status;
}

TalusStatus lab_store_parse(LabSet *set, LabStoreReader *read)
{
    char *path;
    TALUS_TRY(talus_path_format(&path, "%s/" LAB_STORE_NAME, set->dir));
    TalusStatus status = access(path, F_OK) == 0 ? parse_store(set, path, read) : TALUS_OK;
    talus_release(path);
    return status;
}

TalusStatus lab_store_read(LabSet *set)
{
    return lab_store_parse(set, read_all_results);
}
