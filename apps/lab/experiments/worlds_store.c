/* lab/experiments/worlds_store.c - finished runs of an experiment as DIR/run-HASH.csv, a row per step: an experiment of
 * hours that was stopped goes on with its next run. */
#include "worlds.h"

#include "base/hash.h"
#include "base/memory.h"
#include "io/file/file.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes the whole key, the first line of the file, and the file's path. */
static void describe_run(const Worlds *w, const char *run, char key[LAB_TEXT],
                         char path[CLI_PATH_MAX + 64])
{
    snprintf(key, LAB_TEXT, "# %s; threads %d%s; version %s", run, w->threads,
             w->quick ? "; quick" : "", talus_version());
    snprintf(path, CLI_PATH_MAX + 64, "%s/run-%016" PRIx64 ".csv", w->dir,
             talus_hash(TALUS_HASH_SEED, key, strlen(key)));
}

/* Returns the number of lines of the text. */
static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        lines++;
    return lines;
}

/* Reads one line of `columns` numbers. False: it has fewer, or more. */
static bool read_row(char *line, int columns, double *value)
{
    char *end = line;
    for (int c = 0; c < columns; c++, line = end + 1) {
        value[c] = strtod(line, &end);
        if (end == line || *end != (c + 1 < columns ? ',' : '\0'))
            return false;
    }
    return true;
}

TalusStatus worlds_load_run(const Worlds *w, const char *run, int columns, double **values,
                            int *rows)
{
    char key[LAB_TEXT], path[CLI_PATH_MAX + 64], *text;
    size_t size;
    *values = NULL;
    *rows = 0;
    describe_run(w, run, key, path);
    if (!w->keep_runs || access(path, F_OK) != 0)
        return TALUS_OK;
    TALUS_TRY(talus_read_file(path, 1 << 28, &text, &size));
    TalusStatus status =
        TALUS_ALLOC(*values, (count_lines(text) + 1) * (size_t)columns, "steps of a run");
    char *rest = text, *first = strsep(&rest, "\n");
    bool good = status == TALUS_OK && strcmp(first, key) == 0;
    strsep(&rest, "\n"); /* names of columns */
    for (char *line; good && (line = strsep(&rest, "\n")) != NULL && *line;)
        good = read_row(line, columns, *values + (size_t)columns * (size_t)(*rows)++);
    if (status == TALUS_OK && !good) /* of another run or damaged: run again */
        *rows = 0;
    talus_release(text);
    return status;
}

TalusStatus worlds_save_run(const Worlds *w, const char *run, const char *header, int columns,
                            const double *values, int rows)
{
    char key[LAB_TEXT], path[CLI_PATH_MAX + 64];
    TalusFile *file;
    if (w->simulated)
        ++*w->simulated;
    if (!w->keep_runs)
        return TALUS_OK;
    describe_run(w, run, key, path);
    TALUS_TRY(cli_create_file(&file, "%s", path));
    talus_file_print(file, "%s\n%s\n", key, header);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            talus_file_print(file, "%.17g%s", values[(size_t)r * (size_t)columns + (size_t)c],
                             c + 1 < columns ? "," : "\n");
    return talus_file_commit(file);
}

void worlds_forget_runs(const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char path[CLI_PATH_MAX + 300];
        unsigned long long hash;
        if (sscanf(e->d_name, "run-%16llx.csv", &hash) == 1) {
            snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
            unlink(path);
        }
    }
    if (d)
        closedir(d);
}
