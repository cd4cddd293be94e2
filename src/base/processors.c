/* base/processors.c - counts the processors that this process may use.
 *
 * Linux tells them in files. /proc/thread-self/status has the mask of allowed processors. /proc/self/cgroup names the
 * control groups; each of these and of its ancestors may have a quota: cpu.max in version 2, cpu.cfs_quota_us and
 * cpu.cfs_period_us in version 1. A container may see the paths of its host, for which there is no folder here; the
 * walk to the root then ends at the container's own group. Where files are absent nothing is forbidden: a quota that
 * is not found gives too many threads, never too few. */
#include "base/processors.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, LINE_BYTES = 4096 };

/* Reads the first line of the file `name` in `folder` of `root` that begins with `start`, without its end. Returns
 * false if there is none. */
static bool read_line(const char *root, const char *folder, const char *name, const char *start,
                      char line[LINE_BYTES])
{
    char path[PATH_BYTES];
    bool found = false;
    int length = snprintf(path, sizeof path, "%s%s/%s", root, folder, name);
    FILE *file = length < PATH_BYTES ? fopen(path, "r") : NULL;
    if (!file)
        return false;
    while (!found && fgets(line, LINE_BYTES, file))
        found = strncmp(line, start, strlen(start)) == 0;
    fclose(file);
    if (found)
        line[strcspn(line, "\n")] = '\0';
    return found;
}

/* Returns the number of processors in the mask of /proc/thread-self/status, hexadecimal digits with commas; 0 if there
 * is no mask. */
static int count_allowed(const char *root)
{
    static const char key[] = "Cpus_allowed:";
    char line[LINE_BYTES];
    int count = 0;
    if (!read_line(root, "/proc/thread-self", "status", key, line))
        return 0;
    for (const char *c = line + strlen(key); *c; c++) {
        char digit[2] = {*c, '\0'};
        count += __builtin_popcountl(strtoul(digit, NULL, 16));
    }
    return count;
}

/* Returns the number of processors that the quota of the control group in `folder` allows; INFINITY if it has none. */
static double read_quota(const char *root, const char *folder)
{
    char quota[LINE_BYTES], period[LINE_BYTES];
    double used = 0.0, of = 0.0;
    if (read_line(root, folder, "cpu.max", "", quota)) {
        if (sscanf(quota, "%lf %lf", &used, &of) != 2) /* "max": no quota */
            return INFINITY;
    } else if (read_line(root, folder, "cpu.cfs_quota_us", "", quota) &&
               read_line(root, folder, "cpu.cfs_period_us", "", period)) {
        used = strtod(quota, NULL); /* -1: no quota */
        of = strtod(period, NULL);
    }
    return used > 0.0 && of > 0.0 ? used / of : INFINITY;
}

/* Returns the least quota of the control group `path` below `mount` and of its ancestors. */
static double least_quota(const char *root, const char *mount, const char *path)
{
    char folder[PATH_BYTES];
    double least = INFINITY;
    if (snprintf(folder, sizeof folder, "%s%s", mount, path) >= PATH_BYTES)
        return INFINITY;
    for (char *end; strlen(folder) >= strlen(mount); *end = '\0') {
        least = fmin(least, read_quota(root, folder));
        end = strrchr(folder, '/');
    }
    return least;
}

/* True if the comma-separated list of `length` bytes has `word`. */
static bool list_has(const char *list, size_t length, const char *word)
{
    for (size_t at = 0, size; at < length; at += size + 1) {
        size = strcspn(list + at, ",:");
        if (size == strlen(word) && memcmp(list + at, word, size) == 0)
            return true;
    }
    return false;
}

/* Returns the least quota of all control groups of /proc/self/cgroup, whose lines are NUMBER:CONTROLLERS:PATH, in
 * version 2 without controllers. */
static double find_quota(const char *root)
{
    char line[LINE_BYTES], path[PATH_BYTES];
    double least = INFINITY;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
        if (!group)
            continue;
        if (group == list + 1) {
            least = fmin(least, least_quota(root, "/sys/fs/cgroup", group + 1));
            least = fmin(least, least_quota(root, "/sys/fs/cgroup/unified", group + 1));
        } else if (list_has(list + 1, (size_t)(group - list - 1), "cpu")) {
            least = fmin(least, least_quota(root, "/sys/fs/cgroup/cpu", group + 1));
        }
    }
    if (file)
        fclose(file);
    return least;
}

int talus_count_processors_of(long online, const char *root)
{
    double count = online > 1 ? (double)online : 1.0;
    int allowed = count_allowed(root);
    if (allowed > 0)
        count = fmin(count, allowed);
    return (int)fmin(count, ceil(find_quota(root)));
}

int talus_count_processors(void)
{
    return talus_count_processors_of(sysconf(_SC_NPROCESSORS_ONLN), "");
}
