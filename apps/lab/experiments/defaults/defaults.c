/* lab/experiments/defaults/defaults.c - `talus bench default [NAME...]`: lists the cases, runs those that are selected
 * and not stored, and makes the tables. */
#include "defaults.h"

#include "base/memory.h"
#include "base/processors.h"
#include "base/timer.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const Part *const parts[] = {&defaults_lift, &defaults_shear, &defaults_settle,
                                    &defaults_bulk};

/* A name that selects no case, so that the tables are made from stored figures alone. */
static const char *const tables_alone = "tables";

/* ---- selection ---- */

/* True if the pattern, with the wildcards of fnmatch(), matches the case's name or the part of it before some slash; *
 * matches slashes too. */
static bool matches_name(const char *pattern, const char *name)
{
    char below[2 * DEFAULTS_NAME];
    snprintf(below, sizeof below, "%s/*", pattern);
    return fnmatch(pattern, name, 0) == 0 || fnmatch(below, name, 0) == 0;
}

/* Selects the cases that the pattern matches; fails if there are none. */
static TalusStatus select_matching(Cases *cases, const char *pattern)
{
    int count = 0;
    if (strcmp(pattern, tables_alone) == 0)
        return TALUS_OK;
    for (int i = 0; i < cases->count; i++)
        if (matches_name(pattern, cases->item[i].name)) {
            cases->item[i].selected = true;
            count++;
        }
    return count > 0 ? TALUS_OK
                     : talus_fail(TALUS_ERR_ARGUMENT,
                                  "no case '%s'; the parts are lift, shear, settle and bulk, and "
                                  "cases are in " DEFAULTS_STORE,
                                  pattern);
}

/* Selects the cases that the user names, by default all but those on request; with --fresh, drops their stored
 * figures. */
static TalusStatus select_cases(const Worlds *w, Cases *cases)
{
    for (int i = 0; w->name_count == 0 && i < cases->count; i++)
        cases->item[i].selected = !cases->item[i].on_request;
    for (int i = 0; i < w->name_count; i++)
        TALUS_TRY(select_matching(cases, w->names[i]));
    for (int i = 0; w->fresh && i < cases->count; i++)
        cases->item[i].done = cases->item[i].done && !cases->item[i].selected;
    return TALUS_OK;
}

/* ---- running ---- */

/* Cases that are to be run; shared by threads. */
typedef struct Queue {
    const Worlds *w;
    Cases *cases;
    int *order;   /* indices of the cases to run, the longest first */
    int count;    /* number of cases to run */
    int next;     /* place in `order` of the next case to start */
    int finished; /* number of cases that have ended */
    pthread_mutex_t lock;
    TalusStatus stored; /* first error of writing the figures */
} Queue;

/* Prints a line with the figures or the error of a case and its seconds. */
static void print_case_figures(const Queue *q, const Case *c, double seconds)
{
    char text[LAB_TEXT] = "";
    size_t used = 0;
    for (int i = 0; i < c->figures && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %.4g", i ? "," : "",
                                 c->figure[i].name, c->figure[i].value);
    worlds_print_line(q->w, "%d of %d: %s:%s (%.1f s)", q->finished, q->count, c->name,
                      c->error[0] ? c->error : text, seconds);
}

/* Marks the case as done or failed and prints its figures or its error; if done, stores the figures of all cases. */
static void finish_case(Queue *q, Case *c, TalusStatus status, double seconds)
{
    pthread_mutex_lock(&q->lock);
    q->finished++;
    if (status == TALUS_OK)
        defaults_add_figure(c, "seconds", seconds);
    else
        snprintf(c->error, sizeof c->error, " %s", talus_error());
    c->done = status == TALUS_OK;
    print_case_figures(q, c, seconds);
    if (c->done && q->stored == TALUS_OK)
        q->stored = defaults_store_write(q->w->dir, q->cases);
    pthread_mutex_unlock(&q->lock);
}

/* Removes the next case from the queue and returns it; NULL: none is left, or a signal was received. */
static Case *next_case(Queue *q)
{
    pthread_mutex_lock(&q->lock);
    Case *c =
        q->next < q->count && !cli_stop_signal() ? &q->cases->item[q->order[q->next++]] : NULL;
    pthread_mutex_unlock(&q->lock);
    return c;
}

/* Runs a case and finishes it. */
static void run_case(Queue *q, const Worlds *w, Case *c)
{
    double start = talus_now();
    c->figures = 0;
    snprintf(c->backend, sizeof c->backend, "%s", w->backend[0]);
    TalusStatus status = c->part->run(w, c);
    finish_case(q, c, status, talus_now() - start);
}

/* Main function of a thread: runs cases of the queue, each on one thread and without messages but the line at its end,
 * until none is left. */
static void *run_cases_of_queue(void *user)
{
    Queue *q = user;
    Worlds w = *q->w;
    w.threads = 1;
    w.quiet = true;
    for (Case *c; (c = next_case(q)) != NULL;)
        run_case(q, &w, c);
    return NULL;
}

static int compare_descending_cost(const void *a, const void *b)
{
    double x = (*(const Case *const *)a)->cost, y = (*(const Case *const *)b)->cost;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Fills the queue with the selected cases that are not done, of the parts whose cases run alone if `alone`, else of the
 * other parts. */
static TalusStatus fill_queue(Queue *q, bool alone)
{
    const Case **sorted = NULL;
    int count = 0;
    TALUS_TRY(TALUS_ALLOC(q->order, (size_t)q->cases->count + 1, "cases"));
    TALUS_TRY(TALUS_ALLOC(sorted, (size_t)q->cases->count + 1, "cases"));
    for (int i = 0; i < q->cases->count; i++) {
        const Case *c = &q->cases->item[i];
        if (c->selected && !c->done && c->part->alone == alone)
            sorted[count++] = c;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, compare_descending_cost);
    for (int i = 0; i < count; i++)
        q->order[i] = (int)(sorted[i] - q->cases->item);
    q->count = count;
    talus_release(sorted);
    return TALUS_OK;
}

/* Runs the queue on as many threads as --threads says, one per processor by default. */
static TalusStatus run_in_parallel(Queue *q)
{
    enum { THREADS_MAX = 256 };
    pthread_t thread[THREADS_MAX];
    char path[CLI_PATH_MAX];
    int count = q->w->threads > 0 ? q->w->threads : talus_count_processors(), started = 0;
    count = count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : count;
    cli_has_scene("settle-box", path,
                  sizeof path); /* finds the folder of scenes, before threads do */
    while (started < count - 1 &&
           pthread_create(&thread[started], NULL, run_cases_of_queue, q) == 0)
        started++;
    run_cases_of_queue(q);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    return q->stored;
}

/* Runs the cases one after the other, each with the threads of the call. */
static TalusStatus run_one_by_one(Queue *q)
{
    for (Case *c; (c = next_case(q)) != NULL;)
        run_case(q, q->w, c);
    return q->stored;
}

/* Runs the selected cases that are not done, of the parts whose cases run alone if `alone`, else of the other parts; in
 * parallel only if not `alone` and on the cpu, because a device has one world at a time. */
static TalusStatus run_queue(const Worlds *w, Cases *cases, bool alone)
{
    Queue q = {.w = w, .cases = cases};
    TalusStatus status = fill_queue(&q, alone);
    pthread_mutex_init(&q.lock, NULL);
    if (status == TALUS_OK)
        status =
            alone || strcmp(w->backend[0], "cpu") != 0 ? run_one_by_one(&q) : run_in_parallel(&q);
    pthread_mutex_destroy(&q.lock);
    talus_release(q.order);
    return status;
}

/* ---- the whole ---- */

/* Lists the cases of all parts. */
static TalusStatus list_cases(const Worlds *w, Cases *cases)
{
    for (int i = 0; i < LAB_COUNT(parts); i++)
        TALUS_TRY(parts[i]->list(w, parts[i], cases));
    for (int i = 0; i < cases->count; i++)
        cases->item[i].quick = w->quick;
    return TALUS_OK;
}

/* Adds a note about each setting. */
static void note_settings(Worlds *w)
{
    for (int i = 0; i < DEFAULTS_SETTINGS; i++) {
        char text[LAB_TEXT];
        defaults_describe_setting(&defaults_settings[i], text);
        lab_set_add_note(w->set, "Setting %s: %s.", defaults_settings[i].name, text);
    }
}

/* Makes tables of all cases that are done and writes tables.md. Fails if a case of this call failed or a signal was
 * received. */
static TalusStatus conclude(Worlds *w, const Cases *cases)
{
    note_settings(w);
    for (int i = 0; i < LAB_COUNT(parts); i++)
        parts[i]->tabulate(w, cases);
    TALUS_TRY(defaults_write_markdown(w));
    TALUS_TRY(worlds_check_stop(w));
    for (int i = 0; i < cases->count; i++)
        if (cases->item[i].error[0])
            return talus_fail(TALUS_ERR_NUMERIC, "%s:%s", cases->item[i].name,
                              cases->item[i].error);
    return TALUS_OK;
}

static TalusStatus run_default(Worlds *w)
{
    Cases cases = {0};
    TalusStatus status = list_cases(w, &cases);
    TALUS_THEN(status, defaults_store_read(w->dir, &cases));
    TALUS_THEN(status, select_cases(w, &cases));
    TALUS_THEN(status, run_queue(w, &cases, false));
    TALUS_THEN(status, run_queue(w, &cases, true));
    TALUS_THEN(status, conclude(w, &cases));
    talus_release(cases.item);
    return status;
}

const WorldsRow worlds_default = {
    .name = "default",
    .summary = "exact Coulomb with compliance beside rigid contacts under ccp and coulomb",
    .source =
        "lift, cost in shear and settling, bulk answers; names select cases: docs/explanation/default-law.md",
    .takes_names = true,
    .run = run_default};
