/* scenes.c - search for scenes by name; helpers of the commands for backends, threads, steps and warnings. */
#include "cli.h"

#include "backend/backend.h"
#include "io/file/file.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Number of folders that are searched; maximum number of scenes with names; bytes of a name and of a folder's path. */
enum { SCENE_DIRS = 2, MAX_SCENES = 256, NAME_BYTES = 64, DIR_BYTES = CLI_PATH_MAX - 512 };

/* ---- directories ---- */

/* Writes the folder of this program; returns false if the system does not tell. */
static bool find_program_dir(char *dir, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", dir, size - 1);
    dir[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(dir, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

bool cli_same_dir(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && talus_same_file(&x, &y);
}

/* Writes the folder of the scenes that ship with the program: that of the source tree if the program runs from its
 * build tree; else the one at a fixed place relative to the program, so that both may be moved together;
 * TALUS_INSTALL_SCENE_DIR if find_program_dir fails. */
static void find_shipped_dir(char *own, size_t size)
{
    char dir[DIR_BYTES - 256];
    if (!find_program_dir(dir, sizeof dir))
        snprintf(own, size, "%s", TALUS_INSTALL_SCENE_DIR);
    else if (cli_same_dir(dir, TALUS_PROGRAM_DIR))
        snprintf(own, size, "%s", TALUS_SCENE_DIR);
    else
        snprintf(own, size, "%s/%s", dir, TALUS_SCENES_FROM_PROGRAM);
}

/* Returns folder `index` in the order of the search: 0 the shipped scenes, then `scenes` in the current folder. */
static const char *get_scene_dir(int index)
{
    static char own[DIR_BYTES];
    if (!own[0])
        find_shipped_dir(own, sizeof own);
    return index == 0 ? own : "scenes";
}

/* ---- by name ---- */

typedef struct SceneNames {
    char name[MAX_SCENES][NAME_BYTES];
    int dir[MAX_SCENES]; /* index of the scene's folder, for get_scene_dir */
    int count;
} SceneNames;

static bool is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

static bool has_name(const SceneNames *names, const char *name)
{
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->name[i], name) == 0)
            return true;
    return false;
}

/* Adds NAME of a file NAME.json in folder `dir`. Ignores other files, schema.json, names that are too long, names that
 * the list has already, and all names once it has MAX_SCENES. */
static void add_name(SceneNames *names, const char *file, int dir)
{
    size_t length = strlen(file);
    if (length < 6 || length - 5 >= NAME_BYTES || strcmp(file + length - 5, ".json") != 0 ||
        strcmp(file, "schema.json") == 0 || names->count == MAX_SCENES)
        return;
    char name[NAME_BYTES];
    memcpy(name, file, length - 5);
    name[length - 5] = '\0';
    if (has_name(names, name)) /* an earlier folder wins */
        return;
    names->dir[names->count] = dir;
    strcpy(names->name[names->count++], name);
}

/* Lists the names of all scenes in the folders of get_scene_dir. */
static void collect_names(SceneNames *names)
{
    names->count = 0;
    for (int d = 0; d < (int)SCENE_DIRS; d++) {
        DIR *dir = opendir(get_scene_dir(d));
        if (!dir)
            continue;
        for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
            add_name(names, entry->d_name, d);
        closedir(dir);
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void cli_visit_scenes(void (*fn)(void *user, const char *name, const char *path), void *user)
{
    static SceneNames names;
    const char *sorted[MAX_SCENES];
    collect_names(&names);
    for (int i = 0; i < names.count; i++)
        sorted[i] = names.name[i];
    qsort(sorted, (size_t)names.count, sizeof *sorted, compare_names);
    for (int i = 0; i < names.count; i++) {
        size_t index = (size_t)(sorted[i] - names.name[0]) / NAME_BYTES;
        char path[CLI_PATH_MAX];
        snprintf(path, sizeof path, "%s/%s.json", get_scene_dir(names.dir[index]), sorted[i]);
        fn(user, sorted[i], path);
    }
}

/* Prints that there is no such scene, with the nearest name, or no such surface file. */
static void report_missing_scene(const char *name)
{
    if (cli_is_surface_name(name)) {
        cli_fail("%s: there is no such surface file", name);
        return;
    }
    static SceneNames names;
    const char *list[MAX_SCENES];
    collect_names(&names);
    for (int i = 0; i < names.count; i++)
        list[i] = names.name[i];
    cli_fail("no scene '%s'%s", name,
             cli_did_you_mean(name, list, names.count,
                              ": expected a file, or a name that `talus list scenes` shows"));
}

bool cli_has_scene(const char *name, char *path, size_t size)
{
    if ((size_t)snprintf(path, size, "%s", name) < size && is_file(path))
        return true;
    if (!strchr(name, '/'))
        for (int d = 0; d < (int)SCENE_DIRS; d++) {
            int n = snprintf(path, size, "%s/%s.json", get_scene_dir(d), name);
            if ((size_t)n < size && is_file(path))
                return true;
        }
    return false;
}

bool cli_find_scene(const char *name, char *path, size_t size)
{
    if (cli_has_scene(name, path, size))
        return true;
    report_missing_scene(name);
    return false;
}

int cli_check_backend(const CliCommand *command, const char *name)
{
    enum { NAMES_MAX = 16 };
    const char *names[NAMES_MAX];
    int count = talus_backend_count() < NAMES_MAX ? talus_backend_count() : NAMES_MAX;
    if (!name)
        return CLI_OK;
    for (int i = 0; i < count; i++) {
        names[i] = talus_backend_row(i).name;
        if (strcmp(names[i], name) == 0)
            return talus_backend_find(name)
                       ? CLI_OK
                       : cli_fail("--backend %s: %s", name, talus_error_reason());
    }
    return cli_fail_usage(
        command, "--backend %s: no such backend%s", name,
        cli_did_you_mean(name, names, count, "; `talus list backends` names them"));
}

int cli_convert_threads(int option)
{
    return option == 0 ? -1 : option > 0 ? option : 0;
}

int64_t cli_steps_until(double time, double step)
{
    double steps = ceil(time / step - 1e-6);
    return steps < 0x1p62 ? (int64_t)steps : INT64_C(1) << 62;
}

/* ---- warnings of the library ---- */

enum { MAX_WARNING_IDS = 32 }; /* number of ids that are remembered */

/* Callback of talus_set_log: prints a warning, of each id the first only; of ids beyond MAX_WARNING_IDS every one. */
static void print_warning(void *user, TalusLogLevel level, const char *id, const char *text)
{
    static char shown[MAX_WARNING_IDS][NAME_BYTES];
    static int count;
    (void)user;
    if (level != TALUS_LOG_WARNING)
        return;
    for (int i = 0; i < count; i++)
        if (strcmp(shown[i], id) == 0)
            return;
    if (count < MAX_WARNING_IDS)
        snprintf(shown[count++], NAME_BYTES, "%s", id);
    /* On a terminal, first erases a progress bar that may be on the line. */
    fprintf(stderr, "%stalus: warning: %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", text);
}

void cli_enable_warnings(void)
{
    talus_set_log(print_warning, NULL);
}

bool cli_refuse_scene(const char *name)
{
    char path[CLI_PATH_MAX];
    if (!cli_has_scene(name, path, sizeof path) ||
        (strcmp(path, name) == 0 && (!cli_ends_with(name, ".json") || cli_is_problem(path))))
        return false;
    cli_fail("%s is a scene: `talus extract %s --at T -o box.talus` takes a problem out of it",
             name, name);
    return true;
}
