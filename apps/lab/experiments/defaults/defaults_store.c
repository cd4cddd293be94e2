/* lab/experiments/defaults/defaults_store.c - figures of cases as a table with a row per figure, and tables for
 * docs. */
#include "defaults.h"

#include "base/memory.h"
#include "io/file/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char header[] = "case,setting,bodies,revision,quick,steps,backend,figure,value\n";

/* Columns of cases.csv. */
enum { NAME, SETTING, BODIES, REVISION, QUICK, STEPS, BACKEND, FIGURE, VALUE, COLUMNS };

static Case *find_case_by_name(Cases *cases, const char *name)
{
    for (int i = 0; i < cases->count; i++)
        if (strcmp(cases->item[i].name, name) == 0)
            return &cases->item[i];
    return NULL;
}

/* True if setting, bodies, revision, quick and steps of the case are those in the cells of a row. */
static bool has_terms(const Case *c, char *const *cell)
{
    char setting[LAB_TEXT];
    defaults_describe_setting(c->setting, setting);
    return strcmp(setting, cell[SETTING]) == 0 && atoi(cell[BODIES]) == c->bodies &&
           atoi(cell[REVISION]) == c->part->revision && atoi(cell[QUICK]) == c->quick &&
           atoi(cell[STEPS]) == c->steps;
}

/* Adds the figure of one row to its case, which is then done. Ignores rows of unknown cases and rows whose terms
 * (has_terms) are not those of the case. */
static void read_row(Cases *cases, char *line)
{
    char *cell[COLUMNS], *rest = line;
    for (int i = 0; i < COLUMNS; i++)
        if (!(cell[i] = strsep(&rest, ",")))
            return;
    Case *c = find_case_by_name(cases, cell[NAME]);
    if (!c || !has_terms(c, cell))
        return;
    snprintf(c->backend, sizeof c->backend, "%s", cell[BACKEND]);
    defaults_add_figure(c, cell[FIGURE], strtod(cell[VALUE], NULL));
    c->done = true;
}

TalusStatus defaults_store_read(const char *dir, Cases *cases)
{
    char path[CLI_PATH_MAX + 32], *text, *rest;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", dir, DEFAULTS_STORE);
    if (access(path, F_OK) != 0)
        return TALUS_OK;
    TALUS_TRY(talus_read_file(path, 1 << 24, &text, &size));
    rest = text;
    strsep(&rest, "\n"); /* the header */
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        read_row(cases, line);
    talus_release(text);
    return TALUS_OK;
}

TalusStatus defaults_store_write(const char *dir, const Cases *cases)
{
    TalusFile *file;
    TALUS_TRY(cli_create_file(&file, "%s/%s", dir, DEFAULTS_STORE));
    talus_file_print(file, "%s", header);
    for (int i = 0; i < cases->count; i++) {
        const Case *c = &cases->item[i];
        char setting[LAB_TEXT];
        defaults_describe_setting(c->setting, setting);
        for (int k = 0; c->done && k < c->figures; k++)
            talus_file_print(file, "%s,%s,%d,%d,%d,%d,%s,%s,%.9g\n", c->name, setting, c->bodies,
                             c->part->revision, c->quick, c->steps, c->backend, c->figure[k].name,
                             c->figure[k].value);
    }
    return talus_file_commit(file);
}

static void write_verdicts(TalusFile *file, const Worlds *w)
{
    talus_file_print(
        file, "**Targets**\n\n| figure | at most | measured | verdict |\n|---|---|---|---|\n");
    for (int i = 0; i < w->verdicts; i++) {
        const Verdict *v = &w->verdict[i];
        talus_file_print(file, "| %s | %.4g %s | %.4g %s | %s |\n", v->what, v->target, v->unit,
                         v->measured, v->unit, v->measured <= v->target ? "held" : "missed");
    }
}

TalusStatus defaults_write_markdown(const Worlds *w)
{
    TalusFile *file;
    TALUS_TRY(cli_create_file(&file, "%s/tables.md", w->dir));
    for (int i = 0; i < w->set->table_count; i++)
        lab_table_write_markdown(w->set->tables[i], file);
    write_verdicts(file, w);
    return talus_file_commit(file);
}
