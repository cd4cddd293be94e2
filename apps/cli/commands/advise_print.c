/* cli/commands/advise_print.c - the table of `talus advise`, its recommendation, and both as JSON. */
#include "advise.h"

#include "cli/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void advise_describe_setting(const TalusWorldChanges *setting, char *text, size_t size)
{
    char stiffness[48] = "rigid";
    if (setting->compliance > 0.0)
        snprintf(stiffness, sizeof stiffness, "compliance %g", setting->compliance);
    snprintf(text, size, "%s, %s, tolerance %g, step %g s", talus_law_name(setting->law), stiffness,
             setting->tolerance, setting->step);
}

/* ---- the table ---- */

/* Format of the two lines of headings; print_trial has the same widths. */
#define HEAD " %2s %-8s %10s %7s %8s %8s %8s %8s %6s %8s %8s %8s %8s %8s %9s %8s %9s\n"

static void print_headings(const Advise *a)
{
    printf("%s: %" PRId64
           " moving bodies, from t = %g s; each setting covers %.3g s, figures are of its "
           "second half\n\n",
           a->scene, a->scales.moving, a->at, a->span);
    printf(HEAD, "", "law", "compliance", "toler-", "step", "ms per", "products", "residual",
           "missed", "overlap", "over", "size:", "lift", "drift", "height", "contacts", "speed");
    printf(HEAD, "", "", "", "ance/gh", "s", "s", "per step", "g h", "steps", "mean", "99 %",
           "largest", "d", "m g d/s", "d", "per body", "sqrt(g d)");
}

/* Writes the marks of a trial: * for the scene's own setting, = for the most accurate, > for the recommended one. */
static void set_marks(const Advise *a, int index, char marks[4])
{
    const AdviseTrial *t = &a->trial[index];
    int n = 0;
    if (t->setting.own)
        marks[n++] = '*';
    if (index == a->advice.reference)
        marks[n++] = '=';
    if (a->advice.given && advise_same_setting(&t->setting.changes, &a->advice.changes))
        marks[n++] = '>';
    marks[n] = '\0';
}

/* Prints a trial's row of the table; below it, its failure or that it covers less than the span. */
static void print_trial(const Advise *a, int index)
{
    const AdviseTrial *t = &a->trial[index];
    const TalusWorldChanges *w = &t->setting.changes;
    char compliance[24] = "rigid", marks[4];
    if (w->compliance > 0.0)
        snprintf(compliance, sizeof compliance, "%g", w->compliance);
    set_marks(a, index, marks);
    printf(" %2s %-8s %10s %7.0e %8.3g ", marks, talus_law_name(w->law), compliance, w->tolerance,
           w->step);
    if (t->steps > 0)
        printf("%8.0f %8.1f %8.1e %6d %8.1e %8.1e %8.1e %8.1e %8.1e %+9.1e %+8.2f %+9.1e\n",
               1e3 * t->wall / t->covered, t->products, t->residual, t->missed, t->overlap_mean,
               t->overlap_p99, t->overlap_max, t->lift, t->drift, t->height_difference,
               t->coordination_difference, t->speed_difference);
    if (t->failure[0])
        printf("%s    failed: %s\n", t->steps > 0 ? "" : "\n", t->failure);
    else if (!t->complete)
        printf("%s    covers %.3g s alone\n", t->steps > 0 ? "" : "\n", t->covered);
}

/* Prints what the marks mean, how many settings were left out, and whether a signal stopped the trials. */
static void print_notes(const Advise *a)
{
    printf(
        "\n* the scene's own   = the most accurate, from which height, contacts and speed differ "
        "as shown   > recommended\n");
    if (a->left_out)
        printf("left out for lack of time: %d of the settings; more --seconds have room for them\n",
               a->left_out);
    if (a->stopped)
        printf("stopped before the end: this is what is known so far\n");
}

/* ---- the recommendation ---- */

static void print_recommended_key(const char *key, const char *value, const AdviseReason *reason)
{
    printf("  %-18s %-10s %s\n", key, value, reason->text);
}

static void print_recommended_number(const char *key, double value, const AdviseReason *reason)
{
    char text[32];
    snprintf(text, sizeof text, "%g", value);
    print_recommended_key(key, text, reason);
}

/* True if NAME of the assignment NAME=VALUE is one of the recommended keys. */
static bool is_advised(const char *assignment)
{
    static const char *const keys[] = {
        "law=", "compliance=", "elastic_overlap=", "solver.tolerance=", "step="};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strncmp(assignment, keys[i], strlen(keys[i])) == 0)
            return true;
    return false;
}

/* Prints a word of a command line, in quotes if it has characters that are special to a shell. */
static void print_shell_word(const char *word)
{
    bool plain = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789._=+-/:,") == strlen(word);
    if (plain) {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*word);
    putchar('\'');
}

/* Prints the recommended keys with reasons and the command that runs the scene with them, or why there are none. */
static void print_advice(const Advise *a)
{
    const AdviseAdvice *advice = &a->advice;
    const TalusWorldChanges *w = &advice->changes;
    const AdviseReason limit = {"limit of that overlap, over the size"};
    if (!advice->given) {
        printf("\nno recommendation: %s\n",
               a->loaded || a->trials < ADVISE_TRIALS_MIN
                   ? "too few settings were tried"
                   : "no contact bears load; start later (--at T) or from a run (--from DIR)");
        return;
    }
    printf("\nrecommended keys of the scene:\n");
    print_recommended_key("law", talus_law_name(w->law), &advice->law);
    print_recommended_number("compliance", w->compliance, &advice->stiffness);
    if (w->compliance > 0.0)
        print_recommended_number("elastic_overlap", w->elastic_overlap, &limit);
    print_recommended_number("solver.tolerance", w->tolerance, &advice->tolerance);
    print_recommended_number("step", w->step, &advice->step);
    if (advice->warning.text[0])
        printf("  %s\n", advice->warning.text);
    printf("\ntalus run ");
    print_shell_word(a->scene);
    for (int i = 0; i < a->set.count; i++)
        if (!is_advised(a->set.item[i])) {
            printf(" --set ");
            print_shell_word(a->set.item[i]);
        }
    printf(" --set law=%s --set compliance=%g", talus_law_name(w->law), w->compliance);
    if (w->compliance > 0.0)
        printf(" --set elastic_overlap=%g", w->elastic_overlap);
    printf(" --set solver.tolerance=%g --set step=%g\n", w->tolerance, w->step);
}

void advise_print(const Advise *a)
{
    print_headings(a);
    for (int i = 0; i < a->trials; i++)
        print_trial(a, i);
    print_notes(a);
    print_advice(a);
}

/* ---- JSON ---- */

static void write_setting(JsonOut *json, const TalusWorldChanges *w)
{
    json_write_text(json, "law", talus_law_name(w->law));
    json_write_real(json, "compliance", w->compliance);
    json_write_real(json, "elastic_overlap", w->elastic_overlap);
    json_write_real(json, "tolerance", w->tolerance);
    json_write_real(json, "step", w->step);
}

static void write_trial(JsonOut *json, const AdviseTrial *t)
{
    bool any = t->steps > 0;
    json_open_object(json, NULL);
    write_setting(json, &t->setting.changes);
    json_write_bool(json, "own", t->setting.own);
    json_write_bool(json, "complete", t->complete);
    json_write_text(json, "failure", t->failure);
    json_write_int(json, "steps", t->steps);
    json_write_int(json, "missed", t->missed);
    json_write_real(json, "covered", t->covered);
    json_write_real(json, "wall_seconds", t->wall);
    json_write_real(json, "ms_per_simulated_second", any ? 1e3 * t->wall / t->covered : NAN);
    json_write_real(json, "products", t->products);
    json_write_real(json, "residual", t->residual);
    json_write_real(json, "overlap_mean", t->overlap_mean);
    json_write_real(json, "overlap_p99", t->overlap_p99);
    json_write_real(json, "overlap_max", t->overlap_max);
    json_write_real(json, "kappa", t->overlap_mean > 0.0 ? 2.0 / t->overlap_mean : NAN);
    json_write_real(json, "lift", t->lift);
    json_write_real(json, "drift", t->drift);
    json_write_real(json, "height_difference", t->height_difference);
    json_write_real(json, "coordination_difference", t->coordination_difference);
    json_write_real(json, "speed_difference", t->speed_difference);
    json_write_bool(json, "agrees", t->agrees);
    json_close_object(json);
}

static void write_advice(JsonOut *json, const AdviseAdvice *advice)
{
    json_open_object(json, "recommended");
    write_setting(json, &advice->changes);
    json_open_object(json, "reasons");
    json_write_text(json, "law", advice->law.text);
    json_write_text(json, "compliance", advice->stiffness.text);
    json_write_text(json, "tolerance", advice->tolerance.text);
    json_write_text(json, "step", advice->step.text);
    json_close_object(json);
    json_write_text(json, "warning", advice->warning.text);
    json_close_object(json);
}

void advise_print_json(const Advise *a)
{
    JsonOut json;
    json_start(&json, json_to_stream, stdout);
    json_open_object(&json, NULL);
    json_write_text(&json, "scene", a->scene);
    json_write_int(&json, "moving", a->scales.moving);
    json_write_real(&json, "at", a->at);
    json_write_real(&json, "span", a->span);
    json_write_real(&json, "step_most", a->scales.step_max);
    json_write_int(&json, "left_out", a->left_out);
    json_write_bool(&json, "stopped", a->stopped);
    json_write_int(&json, "reference", a->advice.reference);
    json_open_array(&json, "trials");
    for (int i = 0; i < a->trials; i++)
        write_trial(&json, &a->trial[i]);
    json_close_array(&json);
    if (a->advice.given)
        write_advice(&json, &a->advice);
    else
        json_write_null(&json, "recommended");
    json_close_object(&json);
    json_finish(&json);
    fflush(stdout);
}
