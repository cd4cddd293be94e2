/* Reading and writing beds and result files; the format is described in bed.h. */
#include "bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_header(FILE *file, const char *path, Bed *bed)
{
    int got = fscanf(file,
                     "talus-bed 1 n=%d radius=%lf mass=%lf mu=%lf half_width=%lf gravity=%lf "
                     "step=%lf time=%lf",
                     &bed->n, &bed->radius, &bed->mass, &bed->mu, &bed->half_width, &bed->gravity,
                     &bed->step, &bed->time);
    if (got != 8 || bed->n < 1 || !(bed->radius > 0) || !(bed->step > 0)) {
        fprintf(stderr, "%s:1: not a talus-bed header of version 1\n", path);
        return 0;
    }
    return 1;
}

/* A word that is no number (an engine's nan or inf is one strtod reads) ends the file. */
static int read_centres(FILE *file, const char *path, int n, double *x)
{
    char word[64];
    for (int i = 0; i < 3 * n; i++) {
        char *end = word;
        if (fscanf(file, "%63s", word) == 1)
            x[i] = strtod(word, &end);
        if (end == word || *end) {
            fprintf(stderr, "%s: expected %d centres, found %d\n", path, n, i / 3);
            return 0;
        }
    }
    if (fscanf(file, "%63s", word) == 1) {
        fprintf(stderr, "%s: more than the expected %d centres\n", path, n);
        return 0;
    }
    return 1;
}

static FILE *open_or_say(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (!file)
        perror(path);
    return file;
}

int bed_read(const char *path, Bed *bed)
{
    memset(bed, 0, sizeof *bed);
    FILE *file = open_or_say(path, "r");
    if (!file)
        return 0;
    int ok = read_header(file, path, bed);
    if (ok) {
        bed->x = malloc(3 * sizeof(double) * (size_t)bed->n);
        ok = bed->x && read_centres(file, path, bed->n, bed->x);
    }
    fclose(file);
    if (!ok)
        bed_free(bed);
    return ok;
}

void bed_free(Bed *bed)
{
    free(bed->x);
    bed->x = NULL;
}

int positions_read(const char *path, int n, double *x)
{
    FILE *file = open_or_say(path, "r");
    if (!file)
        return 0;
    int ok = read_centres(file, path, n, x);
    fclose(file);
    return ok;
}

int positions_write(const char *path, int n, const double *x)
{
    FILE *file = open_or_say(path, "w");
    if (!file)
        return 0;
    for (int i = 0; i < n; i++)
        fprintf(file, "%.17g %.17g %.17g\n", x[3 * i], x[3 * i + 1], x[3 * i + 2]);
    int ok = !ferror(file);
    if (fclose(file) != 0)
        ok = 0;
    if (!ok)
        perror(path);
    return ok;
}
