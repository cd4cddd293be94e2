/* cli/study/study.c - the plan of a study: points, seeds, figures, and the identity of each run. */
#include "study.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/processors.h"
#include "base/status.h"
#include "cli/run/run.h"
#include "io/file/file.h"
#include "io/scene/scene_digest.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "/proc/self/exe"

/* ---- one run ---- */

const char *study_value(const Study *study, int point, int axis)
{
    return study->grid.axis[axis].value[study_grid_index(&study->grid, point, axis)];
}

void study_describe_run(const Study *study, const StudyRun *run, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int a = 0; a < study->grid.axes && used < size; a++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s", a ? ", " : "",
                                 study->grid.axis[a].key, study_value(study, run->point, a));
    if (run->seed >= 0 && used < size)
        snprintf(text + used, size - used, "%sseed %d", used ? ", " : "", run->seed);
    if (!text[0])
        snprintf(text, size, "the run");
}

/* Adds "KEY=VALUE". */
static void add_assignment(CliList *list, const char *key, const char *value)
{
    const size_t size = strlen(key) + strlen(value) + 2;
    char *text = cli_check_memory(malloc(size));
    snprintf(text, size, "%s=%s", key, value);
    cli_list_add(list, text);
}

void study_add_assignments(const Study *study, const StudyRun *run, CliList *list)
{
    const StudyOptions *o = study->options;
    char seed[16];
    for (int i = 0; i < o->set.count; i++)
        cli_list_add(list, cli_check_memory(strdup(o->set.item[i])));
    for (int a = 0; a < study->grid.axes; a++)
        add_assignment(list, study->grid.axis[a].key, study_value(study, run->point, a));
    snprintf(seed, sizeof seed, "%d", run->seed);
    if (run->seed >= 0)
        add_assignment(list, ".seed", seed);
}

/* Loads the scene of a run. */
static TalusStatus load_scene(const Study *study, const StudyRun *run, TalusScene **scene)
{
    CliList set = {0};
    study_add_assignments(study, run, &set);
    const TalusStatus status = talus_scene_load(study->path, set.item, set.count, scene);
    for (int i = 0; i < set.count; i++)
        free((char *)set.item[i]);
    free(set.item);
    return status;
}

/* Makes the identity of a run with this scene. */
static TalusStatus format_identity(const Study *study, const TalusScene *scene, char **identity)
{
    const StudyOptions *o = study->options;
    const char *solver = o->solver ? o->solver : "", *backend = o->backend ? o->backend : "";
    const size_t size = 256 + strlen(solver) + strlen(backend); /* 256: all but these texts */
    uint64_t digest;
    TALUS_TRY(talus_scene_digest(scene, &digest));
    char *text = *identity = cli_check_memory(malloc(size));
    int used = snprintf(text, size,
                        "talus sweep 1\nprogram %s %016" PRIx64 "\nscene %016" PRIx64
                        "\nsolver %s\nbackend %s\n",
                        talus_version(), study->program, digest, solver, backend);
    if (!isnan(o->until))
        used += snprintf(text + used, size - (size_t)used, "until %.17g\n", o->until);
    if (!isnan(o->every))
        snprintf(text + used, size - (size_t)used, "every %.17g\n", o->every);
    return TALUS_OK;
}

TalusStatus study_identify(const Study *study, const StudyRun *run, char **identity)
{
    TalusScene *scene;
    TALUS_TRY(load_scene(study, run, &scene));
    const TalusStatus status = format_identity(study, scene, identity);
    talus_scene_destroy(scene);
    return status;
}

/* ---- what is varied ---- */

/* True if both begin with the same key, as KEY=... */
static bool has_same_key(const char *a, const char *b)
{
    const size_t n = strcspn(a, "="), m = strcspn(b, "=");
    return n == m && strncmp(a, b, n) == 0;
}

/* Fails if a key is varied twice, or set as well. */
static int check_keys(const StudyOptions *o)
{
    for (int i = 0; i < o->vary.count; i++) {
        for (int k = 0; k < i; k++)
            if (has_same_key(o->vary.item[i], o->vary.item[k]))
                return cli_fail_usage(o->command, "--vary %s: the key is varied twice",
                                      o->vary.item[i]);
        for (int k = 0; k < o->set.count; k++)
            if (has_same_key(o->vary.item[i], o->set.item[k]))
                return cli_fail_usage(o->command, "--vary %s: --set %s gives the key one value",
                                      o->vary.item[i], o->set.item[k]);
    }
    return CLI_OK;
}

static int check_pairs(const Study *study)
{
    const StudyGrid *grid = &study->grid;
    for (int a = 1; grid->paired && a < grid->axes; a++)
        if (grid->axis[a].count != grid->axis[0].count)
            return cli_fail_usage(study->options->command,
                                  "--paired: %s has %d value%s, %s has %d; expected equal numbers",
                                  grid->axis[0].key, grid->axis[0].count,
                                  grid->axis[0].count == 1 ? "" : "s", grid->axis[a].key,
                                  grid->axis[a].count);
    return CLI_OK;
}

static int make_grid(Study *study)
{
    const StudyOptions *o = study->options;
    char why[1024];
    if (o->vary.count > STUDY_AXES)
        return cli_fail_usage(o->command, "--vary: given %d times; at most %d keys go together",
                              o->vary.count, STUDY_AXES);
    study->grid.paired = o->paired;
    for (int i = 0; i < o->vary.count; i++)
        if (!study_axis_parse(o->vary.item[i], &study->grid.axis[study->grid.axes++], why,
                              sizeof why))
            return cli_fail_usage(o->command, "--vary %s", why);
    const int code = check_keys(o);
    return code == CLI_OK ? check_pairs(study) : code;
}

/* Makes the runs: by points, those of a point by seeds. */
static int make_runs(Study *study)
{
    const StudyOptions *o = study->options;
    const int64_t points = study_grid_count(&study->grid);
    if (o->seeds == 0)
        return cli_fail_usage(o->command, "--seeds 0: expected a number above 0");
    study->seeds = o->seeds > 0 ? o->seeds : 1;
    if (points > STUDY_RUNS / study->seeds)
        return cli_fail_usage(o->command, "more than %d runs: %" PRId64 " points, %d seed%s each",
                              STUDY_RUNS, points, study->seeds, study->seeds == 1 ? "" : "s");
    study->points = (int)points;
    study->runs = study->points * study->seeds;
    study->run = cli_check_memory(calloc((size_t)study->runs, sizeof *study->run));
    const int first = o->seed >= 0 ? o->seed : o->seeds >= 0 ? 1 : -1;
    for (int i = 0; i < study->runs; i++)
        study->run[i] = (StudyRun){.point = i / study->seeds,
                                   .seed = first < 0 ? -1 : first + i % study->seeds,
                                   .same_as = -1};
    return CLI_OK;
}

/* ---- checks of the scene ---- */

static int make_figures(Study *study, const TalusScene *scene)
{
    const StudyOptions *o = study->options;
    int code = CLI_OK;
    if (o->measure.count == 0)
        return cli_fail_usage(o->command, "expected --measure FIGURE, such as repose");
    if (o->measure.count > STUDY_FIGURES)
        return cli_fail_usage(o->command, "--measure: given %d times, at most %d go together",
                              o->measure.count, STUDY_FIGURES);
    for (int i = 0; i < o->measure.count && code == CLI_OK; i++) {
        for (int k = 0; k < i; k++)
            if (strcmp(o->measure.item[i], o->measure.item[k]) == 0)
                return cli_fail_usage(o->command, "--measure %s: given twice", o->measure.item[i]);
        code = study_figure_parse(o->command, o->measure.item[i], o->from, scene,
                                  &study->figure[study->figures++]);
    }
    return code;
}

/* True if times that are `every` apart hit the end. */
static bool hits_end(double every, double until)
{
    const double count = until / every;
    return fabs(count - round(count)) <= 1e-6 * fmax(count, 1.0);
}

/* True if the assignment gives the scene's key `seed`, and no parameter of that name. */
static bool assigns_seed(const TalusScene *scene, const char *assignment)
{
    if (has_same_key(assignment, ".seed"))
        return true;
    for (int i = 0; i < talus_scene_param_count(scene); i++)
        if (strcmp(talus_scene_param_name(scene, i), "seed") == 0)
            return false;
    return has_same_key(assignment, "seed");
}

/* Fails if --seeds or --seed would replace a seed that is varied or set. */
static int check_seeds(const Study *study, const TalusScene *scene)
{
    const StudyOptions *o = study->options;
    const CliList *const list[] = {&o->vary, &o->set};
    for (int k = 0; k < 2 && study->run->seed >= 0; k++)
        for (int i = 0; i < list[k]->count; i++)
            if (assigns_seed(scene, list[k]->item[i]))
                return cli_fail_usage(o->command, "%s: --%s %s gives seeds, too",
                                      o->seeds >= 0 ? "--seeds" : "--seed", k ? "set" : "vary",
                                      list[k]->item[i]);
    return CLI_OK;
}

/* Fails if figures have no rows: a mean from a time past the end, or past the last frame of a bulk figure, or a bulk figure
 * at the end of a run that has no frame there. */
static int check_times(const Study *study, double until, const TalusScene *scene)
{
    const StudyOptions *o = study->options;
    const double every = isnan(o->every) ? talus_scene_every(scene) : o->every;
    const double frames = until / every;
    for (int i = 0; i < study->figures; i++) {
        const StudyFigure *figure = &study->figure[i];
        if (figure->from > until)
            return cli_fail_usage(o->command, "--measure %s from t = %g s: runs end at t = %g s",
                                  figure->text, figure->from, until);
        if (figure->table == STUDY_BULK && figure->from > floor(frames * (1.0 + 1e-9)) * every)
            return cli_fail_usage(
                o->command,
                "--measure %s from t = %g s: the last of the frames every %g s is "
                "at t = %g s",
                figure->text, figure->from, every, floor(frames * (1.0 + 1e-9)) * every);
        if (isnan(figure->from) && figure->table == STUDY_BULK && !hits_end(every, until))
            return cli_fail_usage(o->command,
                                  "--measure %s at the end: frames every %g s have none at t = %g "
                                  "s; --every %g has",
                                  figure->text, every, until, until / ceil(frames));
        if (isnan(figure->from) && figure->every > 0.0 && !hits_end(figure->every, until))
            return cli_fail_usage(o->command,
                                  "--measure %s at the end: the probe has a row every %g s, none "
                                  "at t = %g s",
                                  figure->text, figure->every, until);
    }
    return CLI_OK;
}

/* Notes whether some run leaves the processors for a device. */
static void note_backend(Study *study, const TalusScene *scene)
{
    const char *chosen = study->options->backend;
    study->on_device |= strcmp(chosen ? chosen : talus_scene_backend(scene), "cpu") != 0;
}

/* Checks the scene of a run, and sets its identity and key. */
static int check_run(Study *study, StudyRun *run)
{
    TalusScene *scene;
    if (load_scene(study, run, &scene) != TALUS_OK)
        return cli_fail_by_domain(study->options->command);
    const double until = study->options->until;
    run->until = isnan(until) ? talus_scene_until(scene) : until;
    int code = CLI_OK;
    if (run == study->run) {
        snprintf(study->title, sizeof study->title, "%s", talus_scene_title(scene));
        code = check_seeds(study, scene);
        code = code == CLI_OK ? make_figures(study, scene) : code;
    }
    note_backend(study, scene);
    if (code == CLI_OK)
        code = check_times(study, run->until, scene);
    if (code == CLI_OK && format_identity(study, scene, &run->identity) != TALUS_OK)
        code = cli_fail_library();
    talus_scene_destroy(scene);
    if (code == CLI_OK)
        snprintf(run->key, sizeof run->key, "%016" PRIx64,
                 talus_hash(TALUS_HASH_SEED, run->identity, strlen(run->identity)));
    return code;
}

/* Orders indices of runs by their keys, equal ones by number. */
static int compare_keys(const void *a, const void *b)
{
    const StudyRun *x = *(StudyRun *const *)a, *y = *(StudyRun *const *)b;
    const int order = strcmp(x->key, y->key);
    return order ? order : (x > y) - (x < y);
}

/* Finds runs that are the same, such as those of a value and of its default. */
static void find_same(Study *study)
{
    StudyRun **order = cli_check_memory(malloc((size_t)study->runs * sizeof *order));
    for (int i = 0; i < study->runs; i++)
        order[i] = &study->run[i];
    qsort(order, (size_t)study->runs, sizeof *order, compare_keys);
    for (int i = 1, first = 0; i < study->runs; i++) {
        if (strcmp(order[i]->key, order[first]->key) == 0)
            order[i]->same_as = (int)(order[first] - study->run);
        else
            first = i;
    }
    free(order);
}

static int check_runs(Study *study)
{
    int code = CLI_OK;
    for (int i = 0; i < study->runs && code == CLI_OK && !cli_stop_signal(); i++) {
        code = check_run(study, &study->run[i]);
        study->run[i].value =
            cli_check_memory(malloc((size_t)(study->figures + 1) * sizeof(double)));
        for (int f = 0; f < study->figures; f++)
            study->run[i].value[f] = NAN;
    }
    if (code == CLI_OK && study->devices.count > 0 && !study->on_device)
        code = cli_fail_usage(study->options->command,
                              "--devices %s: runs are on the backend cpu, which has none",
                              study->options->devices);
    if (code == CLI_OK)
        find_same(study);
    return code;
}

/* ---- the whole ---- */

/* Hashes the file of this program, which its processes run. */
static TalusStatus hash_program(uint64_t *hash)
{
    char *bytes;
    size_t size;
    TALUS_TRY(talus_read_file(PROGRAM, SIZE_MAX, &bytes, &size));
    *hash = talus_hash(TALUS_HASH_SEED, bytes, size);
    talus_release(bytes);
    return TALUS_OK;
}

/* Splits --devices at its commas. */
static void list_devices(Study *study)
{
    char *text = study->options->devices ? strdup(study->options->devices) : NULL, *rest;
    for (char *item = text ? strtok_r(text, ",", &rest) : NULL; item;
         item = strtok_r(NULL, ",", &rest))
        cli_list_add(&study->devices, cli_check_memory(strdup(item)));
    free(text);
}

static void name_directory(Study *study)
{
    const StudyOptions *o = study->options;
    char name[CLI_PATH_MAX / 2];
    if (o->out) {
        snprintf(study->dir, sizeof study->dir, "%s", o->out);
        return;
    }
    run_format_default_dir(o->scene, name, sizeof name);
    snprintf(study->dir, sizeof study->dir, "%s-sweep", name);
}

static int check_options(const StudyOptions *o)
{
    if (o->until == 0.0 || o->every == 0.0)
        return cli_fail_usage(o->command, "%s 0: expected a number above 0",
                              o->until == 0.0 ? "--until" : "--every");
    if (o->jobs == 0)
        return cli_fail_usage(o->command, "--jobs 0: expected a number above 0");
    const int code = cli_check_backend(o->command, o->backend);
    return code == CLI_OK ? cli_check_solver(o->command, o->solver) : code;
}

int study_open(Study *study, const StudyOptions *options)
{
    *study = (Study){.options = options, .lock = -1};
    int code = check_options(options);
    if (code == CLI_OK && !cli_find_scene(options->scene, study->path, sizeof study->path))
        code = CLI_FAILED;
    if (code == CLI_OK && cli_refuse_problem(study->path))
        code = CLI_FAILED;
    if (code != CLI_OK)
        return code;
    if (hash_program(&study->program) != TALUS_OK)
        return cli_fail_library();
    name_directory(study);
    list_devices(study);
    code = make_grid(study);
    if (code == CLI_OK)
        code = make_runs(study);
    return code == CLI_OK ? check_runs(study) : code;
}

void study_close(Study *study)
{
    for (int a = 0; a < study->grid.axes; a++)
        study_axis_clear(&study->grid.axis[a]);
    for (int i = 0; i < study->runs; i++) {
        free(study->run[i].identity);
        free(study->run[i].reason);
        free(study->run[i].value);
    }
    free(study->run);
    for (int i = 0; i < study->devices.count; i++)
        free((char *)study->devices.item[i]);
    free(study->devices.item);
    if (study->lock >= 0)
        close(study->lock);
}
