/* cli/run/note.c - a run's settings and totals as lines "key value", the note of its checkpoints. */
#include "run.h"

#include <stdlib.h>
#include <string.h>

#define NOTE_HEADER "talus-run 1" /* first line of a note, with the version of its form */

/* Writes a line "key text"; nothing if text is NULL. A value is the rest of its line, so a line break becomes "\n" and
 * a backslash "\\". */
static void put_text(FILE *out, const char *key, const char *text)
{
    if (!text)
        return;
    fprintf(out, "%s ", key);
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '\\')
            fputs("\\\\", out);
        else
            fputc(*text, out);
    }
    fputc('\n', out);
}

/* Undoes the escapes of put_text; returns `text`. */
static char *unescape_in_place(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '\\' && from[1])
            *to++ = *++from == 'n' ? '\n' : *from;
        else
            *to++ = *from;
    }
    *to = '\0';
    return text;
}

char *run_note_format(const RunSettings *s, const RunTally *t)
{
    char *note = NULL;
    size_t size;
    FILE *out = open_memstream(&note, &size);
    if (!out)
        return NULL;
    fputs(NOTE_HEADER "\n", out);
    put_text(out, "scene", s->scene);
    put_text(out, "title", s->title);
    put_text(out, "solver", s->solver);
    put_text(out, "backend", s->backend);
    put_text(out, "frames", s->frames);
    for (int i = 0; i < s->set.count; i++)
        put_text(out, "set", s->set.item[i]);
    for (int i = 0; i < s->fields.count; i++)
        put_text(out, "field", s->fields.item[i]);
    fprintf(out, "seed %lld\n", (long long)s->seed);
    fprintf(out, "threads %d\nuntil %.17g\nevery %.17g\n", s->threads, s->until, s->every);
    fprintf(out, "iterations %lld\nmissed %lld\nfallbacks %lld\nresidual_max %.17g\n",
            (long long)t->iterations, (long long)t->missed, (long long)t->fallbacks,
            t->residual_max);
    fprintf(out, "contacts %lld\nresidual %.17g\npenetration_mean %.17g\npenetration_max %.17g\n",
            (long long)t->contacts, t->residual, t->penetration_mean, t->penetration_max);
    fprintf(out, "kinetic %.17g\n", t->kinetic);
    fprintf(out, "loaded %lld\noverlap_mean %.17g\noverlap_p99 %.17g\noverlap_max %.17g\n",
            (long long)t->overlap.loaded, t->overlap.mean, t->overlap.p99, t->overlap.max);
    fprintf(out, "kappa %.17g\n", t->overlap.kappa);
    return fclose(out) == 0 ? note : NULL;
}

/* Stores the value of a setting that is a text; returns false if `key` is not such a setting. */
static bool parse_text(const char *key, char *value, RunSettings *s)
{
    const struct {
        const char *key;
        const char **field;
    } rows[] = {{"scene", &s->scene},
                {"title", &s->title},
                {"solver", &s->solver},
                {"backend", &s->backend},
                {"frames", &s->frames}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].key, key) == 0) {
            *rows[i].field = unescape_in_place(value);
            return true;
        }
    CliList *list = strcmp(key, "set") == 0     ? &s->set
                    : strcmp(key, "field") == 0 ? &s->fields
                                                : NULL;
    if (list)
        cli_list_add(list, unescape_in_place(value));
    return list != NULL;
}

/* Stores the value of a setting or total that is a number; ignores unknown keys. */
static void parse_number(const char *key, const char *value, RunSettings *s, RunTally *t)
{
    const struct {
        const char *key;
        double *field;
    } rows[] = {{"until", &s->until},
                {"every", &s->every},
                {"residual_max", &t->residual_max},
                {"residual", &t->residual},
                {"penetration_mean", &t->penetration_mean},
                {"penetration_max", &t->penetration_max},
                {"overlap_mean", &t->overlap.mean},
                {"overlap_p99", &t->overlap.p99},
                {"overlap_max", &t->overlap.max},
                {"kappa", &t->overlap.kappa},
                {"kinetic", &t->kinetic}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].key, key) == 0)
            *rows[i].field = strtod(value, NULL);
    if (strcmp(key, "threads") == 0)
        s->threads = atoi(value);
    else if (strcmp(key, "seed") == 0)
        s->seed = atoll(value);
    else if (strcmp(key, "contacts") == 0)
        t->contacts = atoll(value);
    else if (strcmp(key, "loaded") == 0)
        t->overlap.loaded = atoll(value);
    else if (strcmp(key, "iterations") == 0)
        t->iterations = atoll(value);
    else if (strcmp(key, "missed") == 0)
        t->missed = atoll(value);
    else if (strcmp(key, "fallbacks") == 0)
        t->fallbacks = atoll(value);
}

bool run_note_parse(char *note, RunSettings *settings, RunTally *tally)
{
    *settings = (RunSettings){.set.item = settings->set.item, /* the arrays are reused */
                              .fields.item = settings->fields.item};
    memset(tally, 0, sizeof *tally);
    char *rest;
    char *line = strtok_r(note, "\n", &rest);
    if (!line || strcmp(line, NOTE_HEADER) != 0)
        return false;
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
        char *value = strchr(line, ' ');
        if (!value)
            return false;
        *value++ = '\0';
        if (!parse_text(line, value, settings))
            parse_number(line, value, settings, tally);
    }
    return settings->scene && settings->title && settings->until >= 0.0;
}
