/* lab/experiments/worlds.c - benchmarks that run worlds: table of rows and main loop. */
#include "worlds.h"

#include "backend/backend.h"
#include "base/timer.h"

#include <math.h>
#include <string.h>

static const WorldsRow *const table[] = {
    &worlds_hourglass, &worlds_million,  &worlds_ten_million, &worlds_hundred_million,
    &worlds_copies,    &worlds_pospisil, &worlds_beverloo,    &worlds_agreement,
    &worlds_shear,     &worlds_packing,  &worlds_janssen,     &worlds_petra,
    &worlds_default,   &worlds_rigid,    &worlds_negrut,      &worlds_mprgp};

_Static_assert(sizeof table / sizeof *table == WORLDS_ROWS, "the number of rows");

const WorldsRow *worlds_get_row(int index)
{
    return index < WORLDS_ROWS ? table[index] : NULL;
}

const WorldsRow *worlds_find_row(const char *name)
{
    for (int i = 0; i < WORLDS_ROWS; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

/* ---- verdicts ---- */

static void add_verdict_row(const Worlds *w, LabTable *t, const Verdict *v)
{
    if (v->failed) {
        lab_table_add_cells(t, "%s\t-\t-\t-\t-", v->what);
        lab_table_add_cell(t, "failed: %s", v->found);
        return;
    }
    lab_table_add_cells(t, "%s\t%.4g %s\t%.4g %s\t%.2e\t%.2e", v->what, v->target, v->unit,
                        v->measured, v->unit, v->rms, v->relative);
    if (w->quick)
        lab_table_add_cell(t, "quick: not judged");
    else if (v->found[0])
        lab_table_add_cell(t, "%s", v->found);
    else
        lab_table_add_cell(t, v->measured <= v->target ? "held" : "missed");
}

static void add_verdict_table(Worlds *w)
{
    LabTable *t = lab_set_add_table(w->set, "Targets",
                                    "figure\tat most\tmeasured\trms, m/s\trms over g h\tverdict");
    for (int i = 0; i < w->verdicts; i++)
        add_verdict_row(w, t, &w->verdict[i]);
}

/* ---- the whole ---- */

void worlds_describe_backend(const char *name, char text[LAB_TEXT])
{
    const TalusBackend *b = talus_backend_find(name);
    snprintf(text, LAB_TEXT, "the host");
    if (b && b->describe)
        b->describe(text, LAB_TEXT);
}

/* Adds a note with a description of each backend. */
static void note_backends(Worlds *w)
{
    for (int i = 0; i < w->backends; i++) {
        char text[LAB_TEXT];
        worlds_describe_backend(w->backend[i], text);
        lab_set_add_note(w->set, "Backend %s: %s.", w->backend[i], text);
    }
}

/* Runs the rows until a signal requests a stop; a failed row does not stop the others. Returns how many failed. */
static int run_rows(Worlds *w, const WorldsRow *const *rows, int count)
{
    int failures = 0;
    double begun = talus_now(), shares = 0.0, used = 0.0, unlimited = 0.0;
    for (int i = 0; i < count; i++)
        shares += rows[i]->share;
    for (int i = 0; i < count && !cli_stop_signal(); i++) {
        double start = talus_now();
        bool limited = w->limit > 0.0 && rows[i]->share > 0.0;
        used += rows[i]->share;
        w->deadline = limited ? begun + unlimited + w->limit * used / shares : HUGE_VAL;
        worlds_print_line(w, "%s: %s", rows[i]->name, rows[i]->summary);
        lab_set_add_note(w->set, "%s: %s. %s.", rows[i]->name, rows[i]->summary, rows[i]->source);
        TalusStatus status = rows[i]->run(w);
        if (status != TALUS_OK) {
            failures++;
            worlds_add_failure(w, rows[i]->name);
            cli_fail("%s: %s", rows[i]->name, talus_error());
        }
        double seconds = talus_now() - start;
        unlimited += limited ? 0.0 : seconds;
        worlds_print_line(w, "%s: %.1f s", rows[i]->name, seconds);
    }
    lab_set_add_note(w->set, "All in %.1f s.", talus_now() - begun);
    return failures;
}

int worlds_run_rows(Worlds *w, const WorldsRow *const *rows, int count)
{
    if (w->quick)
        lab_set_add_note(w->set, "Quick version: small worlds, and no target is judged.");
    int failures = run_rows(w, rows, count);
    if (!w->simulated || *w->simulated > 0) /* stored runs may be of another machine */
        note_backends(w);
    if (w->verdicts > 0)
        add_verdict_table(w);
    return failures ? CLI_FAILED : CLI_OK;
}
