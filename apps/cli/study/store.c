/* cli/study/store.c - the directories of a study's runs: which of them hold whole runs. */
#include "study.h"

#include "base/memory.h"
#include "base/status.h"
#include "cli/run/dir.h"
#include "io/file/file.h"
#include "io/run/checkpoint.h"
#include "io/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { KEY_LIMIT = 1 << 16 }; /* maximum bytes of sweep.key */

int study_open_store(Study *study)
{
    char path[CLI_PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/runs", study->dir);
    if (talus_make_directory(path) != TALUS_OK)
        return cli_fail_library();
    snprintf(path, sizeof path, "%s/sweep.lock", study->dir);
    study->lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (study->lock < 0)
        return cli_fail("%s: cannot open: %s", path, strerror(errno));
    if (flock(study->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return cli_fail("%s: another sweep is writing there", study->dir);
    return CLI_OK;
}

void study_run_dir(const Study *study, const StudyRun *run, char path[CLI_PATH_MAX])
{
    snprintf(path, CLI_PATH_MAX, "%.*s/runs/%s", CLI_PATH_MAX - 32, study->dir, run->key);
}

/* Reads run.json; false unless it says that the run has come to its end. */
static bool read_finished(const StudyRun *run, const char *dir, RunState *state)
{
    return run_state_read(AT_FDCWD, dir, state) && strcmp(state->state, "finished") == 0 &&
           state->until == run->until;
}

/* Formats what sweep.key holds for a run that has ended so. */
static void format_key_file(const StudyRun *run, const RunState *state, TalusText *text)
{
    talus_text_print(text, "%sfinished at step %" PRId64 ", t = %.17g\n", run->identity,
                     state->step, state->time);
}

bool study_is_whole(const Study *study, const StudyRun *run)
{
    char dir[CLI_PATH_MAX], path[CLI_PATH_MAX + 16], *found = NULL;
    size_t size;
    RunState state;
    TalusText expected = {0};
    study_run_dir(study, run, dir);
    snprintf(path, sizeof path, "%s/sweep.key", dir);
    if (access(path, F_OK) != 0 || !read_finished(run, dir, &state))
        return false;
    format_key_file(run, &state, &expected);
    const bool whole = talus_read_file(path, KEY_LIMIT, &found, &size) == TALUS_OK &&
                       expected.status == TALUS_OK && strcmp(found, expected.bytes) == 0;
    talus_release(found);
    talus_release(expected.bytes);
    return whole;
}

bool study_has_checkpoint(const Study *study, const StudyRun *run)
{
    static const char *const names[] = {TALUS_CHECKPOINT_A, TALUS_CHECKPOINT_B};
    char dir[CLI_PATH_MAX], path[CLI_PATH_MAX + 32];
    bool found = false;
    study_run_dir(study, run, dir);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        found = found || access(path, F_OK) == 0;
    }
    return found;
}

void study_begin_run(const Study *study, const StudyRun *run)
{
    static const char *const names[] = {"sweep.key", "run.json"};
    char dir[CLI_PATH_MAX], path[CLI_PATH_MAX + 16];
    study_run_dir(study, run, dir);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
}

TalusStatus study_confirm_run(const Study *study, const StudyRun *run)
{
    char dir[CLI_PATH_MAX], *identity;
    RunState state;
    TalusFile *file;
    TalusText text = {0};
    study_run_dir(study, run, dir);
    if (!read_finished(run, dir, &state))
        return talus_fail_file(dir, TALUS_ERR_FORMAT, "its run has not finished");
    TALUS_TRY(study_identify(study, run, &identity));
    const bool same = strcmp(identity, run->identity) == 0;
    free(identity);
    if (!same)
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "the scene, or a file that it reads, has changed since the sweep began");
    TALUS_TRY(cli_create_file(&file, "%s/sweep.key", dir));
    format_key_file(run, &state, &text);
    talus_file_put(file, text.bytes, text.size);
    talus_release(text.bytes);
    return talus_file_commit(file);
}

TalusStatus study_read_run(const Study *study, StudyRun *run)
{
    char dir[CLI_PATH_MAX];
    study_run_dir(study, run, dir);
    for (int f = 0; f < study->figures; f++)
        TALUS_TRY(study_figure_read(&study->figure[f], dir, &run->value[f]));
    return TALUS_OK;
}
