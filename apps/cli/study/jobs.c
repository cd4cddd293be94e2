/* cli/study/jobs.c - the processes of a study: starts them, several at a time, and waits for their ends.
 *
 * A process that fails, whatever the way, is one failed run; the others go on. A signal to stop is passed on to the processes,
 * which write checkpoints and end. Should this process be killed, its processes get SIGTERM from the system. */
#include "study.h"

#include "base/memory.h"
#include "base/processors.h"
#include "base/status.h"
#include "base/timer.h"
#include "cli/run/dir.h"
#include "io/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { LOG_LIMIT = 1 << 20 }; /* maximum bytes of a log that are read */
static const double poll_seconds = 0.005, show_seconds = 0.2, other_seconds = 10.0;

/* A process at work. */
typedef struct Job {
    StudyRun *run; /* NULL: none */
    pid_t pid;
    bool resumed;
} Job;

typedef struct Jobs {
    Study *study;
    Job *job; /* [count] */
    int count, running;
    int next;            /* index of the run to be started next */
    int computed, total; /* runs that this call has computed, and those that it has to */
    bool stopped;        /* processes were told to end */
    bool terminal;
    double begun, shown;
} Jobs;

int study_job_count(const Study *study)
{
    const StudyOptions *o = study->options;
    const int threads = o->threads > 0 ? o->threads : 1;
    const int processors = talus_count_processors() / threads;
    if (o->jobs > 0)
        return o->jobs;
    if (study->devices.count > 0)
        return study->devices.count;
    if (study->on_device)
        return 1;
    return processors > 1 && o->threads != 0 ? processors : 1;
}

/* ---- progress ---- */

static void erase_line(const Jobs *jobs)
{
    if (jobs->terminal)
        fputs("\r\033[K", stderr);
}

/* Formats the seconds that the runs left will take, from those that this call has computed; "-" before the first. */
static void format_left(const Jobs *jobs, char *text, size_t size)
{
    const double each = (talus_now() - jobs->begun) / jobs->computed;
    const long s = jobs->computed ? lround(each * (jobs->total - jobs->computed)) : 0;
    if (jobs->computed)
        snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(text, size, "-");
}

/* Redraws the line of progress on a terminal, if it is time. */
static void show_progress(Jobs *jobs)
{
    char left[64];
    const double now = talus_now();
    if (!jobs->terminal || now - jobs->shown < show_seconds)
        return;
    jobs->shown = now;
    format_left(jobs, left, sizeof left);
    fprintf(stderr, "\r\033[K%d of %d runs computed, %d at work, %s left", jobs->computed,
            jobs->total, jobs->running, left);
    fflush(stderr);
}

/* ---- the process ---- */

static void clear_words(CliList *words)
{
    for (int i = 0; i < words->count; i++)
        free((char *)words->item[i]);
    free(words->item);
}

static void add_word(CliList *words, const char *word)
{
    cli_list_add(words, cli_check_memory(strdup(word)));
}

static void add_option(CliList *words, const char *name, const char *value)
{
    if (!value)
        return;
    add_word(words, name);
    add_word(words, value);
}

static void add_real(CliList *words, const char *name, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    if (!isnan(value))
        add_option(words, name, text);
}

/* Adds an option --set for each assignment of the run. */
static void add_assignments(CliList *words, const Study *study, const StudyRun *run)
{
    CliList set = {0};
    study_add_assignments(study, run, &set);
    for (int i = 0; i < set.count; i++)
        add_option(words, "--set", set.item[i]);
    clear_words(&set);
}

/* Makes the command line of a run, which ends with a NULL. */
static void make_words(const Study *study, const StudyRun *run, bool resume, const char *dir,
                       CliList *words)
{
    const StudyOptions *o = study->options;
    add_word(words, "talus");
    add_word(words, "run");
    if (resume) {
        add_option(words, "--resume", dir);
    } else {
        add_word(words, study->path);
        add_assignments(words, study, run);
        add_option(words, "--solver", o->solver);
        add_option(words, "--backend", o->backend);
        add_real(words, "--every", o->every);
        add_option(words, "--frames", "bulk");
        add_option(words, "--out", dir);
    }
    add_real(words, "--until", run->until); /* refused if somebody has run it on */
    add_real(words, "--threads", o->threads >= 0 ? o->threads : 1.0);
    add_real(words, "--checkpoint-every", o->checkpoint_every);
    add_word(words, "--quiet");
    cli_list_add(words, NULL);
}

/* In the new process: what it prints goes to the log. Ends with 127, which talus does not, if the program cannot be
 * started. */
static _Noreturn void become_run(const CliList *words, const char *log, const char *device,
                                 pid_t parent)
{
    const int in = open("/dev/null", O_RDONLY), out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (getppid() != parent) /* it was killed before that call */
        _exit(127);
    if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(out, STDERR_FILENO) < 0)
        _exit(127);
    if (device)
        setenv("CUDA_VISIBLE_DEVICES", device, 1);
    execv("/proc/self/exe", (char *const *)words->item);
    _exit(127);
}

/* Starts the process of a run; `slot` is the number of the job. */
static TalusStatus start_process(Jobs *jobs, Job *job, int slot)
{
    Study *study = jobs->study;
    char dir[CLI_PATH_MAX], log[CLI_PATH_MAX + 16];
    CliList words = {0};
    const char *device =
        study->devices.count ? study->devices.item[slot % study->devices.count] : NULL;
    study_run_dir(study, job->run, dir);
    TALUS_TRY(talus_make_directory(dir));
    snprintf(log, sizeof log, "%s/sweep.log", dir);
    study_begin_run(study, job->run);
    make_words(study, job->run, job->resumed, dir, &words);
    const pid_t parent = getpid();
    fflush(NULL);
    job->pid = fork();
    if (job->pid == 0)
        become_run(&words, log, device, parent);
    clear_words(&words);
    return job->pid > 0 ? TALUS_OK
                        : talus_fail(TALUS_ERR_IO, "cannot start a process: %s", strerror(errno));
}

/* ---- the end of a run ---- */

/* Copies from the log of a run the last line in which talus says what was wrong. */
static void find_complaint(const char *dir, char *reason)
{
    char path[CLI_PATH_MAX + 16], *text;
    size_t size;
    snprintf(path, sizeof path, "%s/sweep.log", dir);
    if (talus_read_file(path, LOG_LIMIT, &text, &size) != TALUS_OK)
        return;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (strncmp(line, "talus: ", 7) == 0 && strncmp(line, "talus: warning: ", 16) != 0 &&
            !strstr(line, "tells more"))
            snprintf(reason, STUDY_REASON, "%s", line + 7);
    talus_release(text);
}

static void fail_run(Jobs *jobs, StudyRun *run, const char *reason)
{
    char about[1024];
    run->state = STUDY_FAILED;
    jobs->computed++;
    run->reason = cli_check_memory(strdup(reason));
    study_describe_run(jobs->study, run, about, sizeof about);
    erase_line(jobs);
    cli_fail("%s: %s", about, run->reason);
}

/* Writes why a process with this status has failed. */
static void explain_end(const char *dir, int status, char *reason)
{
    RunState state;
    if (WIFSIGNALED(status)) {
        snprintf(reason, STUDY_REASON, "ended by signal %d", WTERMSIG(status));
        return;
    }
    snprintf(reason, STUDY_REASON, "exit code %d", WEXITSTATUS(status));
    find_complaint(dir, reason);
    if (run_state_read(AT_FDCWD, dir, &state) && state.message[0])
        snprintf(reason, STUDY_REASON, "%s", state.message);
}

/* Enters the end of a process. A run that could not go on from its checkpoint is to be started anew, which returns false. */
static bool finish_job(Jobs *jobs, Job *job, int status)
{
    StudyRun *run = job->run;
    char dir[CLI_PATH_MAX], reason[STUDY_REASON];
    const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    study_run_dir(jobs->study, run, dir);
    if (cli_stop_signal() && !good)
        return true;
    if (good && study_confirm_run(jobs->study, run) == TALUS_OK &&
        study_read_run(jobs->study, run) == TALUS_OK) {
        run->state = STUDY_FINISHED;
        jobs->computed++;
        return true;
    }
    if (job->resumed && !good)
        return false;
    if (good)
        snprintf(reason, sizeof reason, "%s", talus_error());
    else
        explain_end(dir, status, reason);
    fail_run(jobs, run, reason);
    return true;
}

/* ---- the loop ---- */

static void wait_a_moment(double seconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
}

/* True if no other process writes into the directory of the run. One that an earlier sweep has left behind ends soon. */
static bool wait_for_other(const Jobs *jobs, const StudyRun *run)
{
    char dir[CLI_PATH_MAX];
    RunState state;
    study_run_dir(jobs->study, run, dir);
    for (double begun = talus_now(); talus_now() - begun < other_seconds && !cli_stop_signal();) {
        if (!run_state_read(AT_FDCWD, dir, &state) || !state.alive)
            return true;
        wait_a_moment(0.1);
    }
    return false;
}

/* Starts a run; one that cannot be started has failed. */
static void start_job(Jobs *jobs, int slot, StudyRun *run, bool resume)
{
    Job *job = &jobs->job[slot];
    *job = (Job){.run = run, .resumed = resume};
    const TalusStatus status = start_process(jobs, job, slot);
    if (status == TALUS_OK) {
        jobs->running++;
        return;
    }
    job->run = NULL;
    fail_run(jobs, run, talus_error());
}

/* Starts runs while there are jobs without one. */
static void fill_jobs(Jobs *jobs)
{
    Study *study = jobs->study;
    for (int slot = 0; slot < jobs->count && !cli_stop_signal(); slot++) {
        while (!jobs->job[slot].run && jobs->next < study->runs && !cli_stop_signal()) {
            StudyRun *run = &study->run[jobs->next++];
            if (run->state != STUDY_WAITING || run->same_as >= 0)
                continue;
            if (wait_for_other(jobs, run))
                start_job(jobs, slot, run, study_has_checkpoint(study, run));
            else if (!cli_stop_signal())
                fail_run(jobs, run,
                         "another process writes into its directory; if none does, on a file "
                         "system without locks, remove the directory");
        }
    }
}

/* Enters the ends of processes. Returns the number of them. */
static int reap_jobs(Jobs *jobs)
{
    int ended = 0, status;
    for (int slot = 0; slot < jobs->count; slot++) {
        Job *job = &jobs->job[slot];
        if (!job->run || waitpid(job->pid, &status, WNOHANG) != job->pid)
            continue;
        StudyRun *run = job->run;
        const bool over = finish_job(jobs, job, status);
        job->run = NULL;
        jobs->running--;
        ended++;
        if (!over)
            start_job(jobs, slot, run, false);
    }
    return ended;
}

/* Passes a signal to stop on to the processes, once. */
static void pass_signal(Jobs *jobs)
{
    if (!cli_stop_signal() || jobs->stopped)
        return;
    jobs->stopped = true;
    for (int slot = 0; slot < jobs->count; slot++)
        if (jobs->job[slot].run)
            kill(jobs->job[slot].pid, SIGTERM);
}

static void run_jobs(Jobs *jobs)
{
    do {
        pass_signal(jobs);
        fill_jobs(jobs);
        if (reap_jobs(jobs) == 0 && jobs->running > 0)
            wait_a_moment(poll_seconds);
        show_progress(jobs);
    } while (jobs->running > 0 || (jobs->next < jobs->study->runs && !cli_stop_signal()));
    erase_line(jobs);
}

/* Takes the figures of runs that are there. Returns how many are not. */
static int take_whole_runs(Study *study)
{
    int missing = 0;
    for (int i = 0; i < study->runs; i++) {
        StudyRun *run = &study->run[i];
        if (run->same_as >= 0)
            continue;
        if (study_is_whole(study, run) && study_read_run(study, run) == TALUS_OK)
            run->state = STUDY_FINISHED;
        else
            missing++;
    }
    return missing;
}

/* Gives runs that are the same as another the other's end. */
static void copy_same_runs(Study *study)
{
    for (int i = 0; i < study->runs; i++) {
        StudyRun *run = &study->run[i];
        const StudyRun *other = run->same_as >= 0 ? &study->run[run->same_as] : NULL;
        if (!other)
            continue;
        run->state = other->state;
        run->reason = other->reason ? cli_check_memory(strdup(other->reason)) : NULL;
        memcpy(run->value, other->value, (size_t)study->figures * sizeof *run->value);
    }
}

void study_run_all(Study *study)
{
    const StudyOptions *o = study->options;
    Jobs jobs = {.study = study,
                 .count =
                     study_job_count(study) < study->runs ? study_job_count(study) : study->runs,
                 .terminal = !o->quiet && isatty(STDERR_FILENO),
                 .begun = talus_now()};
    jobs.total = take_whole_runs(study);
    if (!o->quiet)
        fprintf(stderr,
                "talus: %d point%s, %d run%s: %d there already, %d to compute, %d at a time\n",
                study->points, study->points == 1 ? "" : "s", study->runs,
                study->runs == 1 ? "" : "s", study->runs - jobs.total, jobs.total, jobs.count);
    jobs.job = cli_check_memory(calloc((size_t)jobs.count, sizeof *jobs.job));
    run_jobs(&jobs);
    free(jobs.job);
    copy_same_runs(study);
}
