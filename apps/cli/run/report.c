/* cli/run/report.c - report at the end of a run. */
#include "cli/json_out.h"
#include "cli/serve/serve.h"
#include "run.h"

#include "base/status.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

/* Processor time of the process, user and system, s. */
static double cpu_seconds(const struct rusage *use)
{
    return (double)use->ru_utime.tv_sec + (double)use->ru_stime.tv_sec +
           1e-6 * (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec);
}

void run_tally_step(RunTally *tally, RunClock *clock, const TalusStepInfo *info)
{
    tally->iterations += info->solve.iterations;
    tally->missed += info->missed;
    tally->fallbacks += info->projection_fallbacks;
    tally->residual = info->solve.residual.rms;
    tally->residual_max = fmax(tally->residual_max, tally->residual);
    tally->contacts = info->contacts;
    tally->penetration_mean = info->penetration_mean;
    tally->penetration_max = info->penetration_max;
    tally->overlap = info->overlap;
    tally->kinetic = info->ledger.kinetic;
    clock->detect += info->detect_seconds;
    clock->build += info->build_seconds;
    clock->solve += info->solve_seconds;
    clock->integrate += info->integrate_seconds;
}

void run_format_scene_name(const char *scene, char *name, size_t size)
{
    const char *slash = strrchr(scene, '/');
    snprintf(name, size, "%s", slash ? slash + 1 : scene);
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".json") == 0)
        name[length - 5] = '\0';
}

/* Puts a prefix before a scene's name that would lead out of the folder out/ or be hidden there. */
void run_format_default_dir(const char *scene, char *dir, size_t size)
{
    char name[256];
    run_format_scene_name(scene, name, sizeof name);
    snprintf(dir, size, "out/%s%s", name[0] == '.' || !name[0] ? "scene" : "", name);
}

/* ---- text ---- */

/* Prints the seconds of a stage and their percentage of `total`. */
static void print_stage(FILE *out, const char *name, double seconds, double total)
{
    fprintf(out, "  %-10s %10.3f s %6.1f %%\n", name, seconds,
            total > 0.0 ? 100.0 * seconds / total : 0.0);
}

/* Prints the seconds of each stage; "other" is what the stages leave of the wall-clock time. */
static void print_stages(const RunClock *clock, FILE *out)
{
    double known = clock->setup + clock->detect + clock->build + clock->solve + clock->integrate +
                   clock->output + clock->paused;
    print_stage(out, "set-up", clock->setup, clock->wall);
    print_stage(out, "detect", clock->detect, clock->wall);
    print_stage(out, "build", clock->build, clock->wall);
    print_stage(out, "solve", clock->solve, clock->wall);
    print_stage(out, "integrate", clock->integrate, clock->wall);
    print_stage(out, "output", clock->output, clock->wall);
    if (clock->paused > 0.0)
        print_stage(out, "paused", clock->paused, clock->wall);
    print_stage(out, "other", fmax(0.0, clock->wall - known), clock->wall);
    print_stage(out, "total", clock->wall, clock->wall);
}

/* Prints where the results are and the command that shows them. */
static void print_results_dir(const Run *run, FILE *out)
{
    const char *dir = run->dir;
    if (!dir)
        fprintf(out, "--no-out: no frames, tables or checkpoints were written\n");
    else if (serve_available())
        fprintf(out, "results in %s; look at it: talus view %s\n", dir, dir);
    else
        fprintf(out, "results in %s; look at it: talus export %s -o page.html\n", dir, dir);
}

static void print_overlap(const TalusOverlapSummary *o, FILE *out)
{
    if (o->loaded == 0)
        return;
    fprintf(out,
            "overlap over size at the end, %lld loaded contacts: mean %.2e, 99 %% below %.2e, "
            "largest %.2e; kappa %.2g\n",
            (long long)o->loaded, o->mean, o->p99, o->max, o->kappa);
}

void run_report(const Run *run, FILE *out)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    int64_t steps = talus_world_steps(run->world);
    int64_t done = steps - run->first_step;
    double stepping = run->clock.wall - run->clock.setup - run->clock.paused;
    fputc('\n', out);
    print_stages(&run->clock, out);
    fprintf(out,
            "\n%" PRId64 " steps to t = %g s, %.1f steps/s, %.2f s of processor time, %.0f MB\n",
            done, talus_world_time(run->world), stepping > 0.0 ? (double)done / stepping : 0.0,
            cpu_seconds(&use), 1e-6 * run_peak_bytes());
    if (run->tally.missed)
        fprintf(out,
                "tolerance missed in %" PRId64 " of %" PRId64
                " steps; the worst reached a residual of %.2e m/s\n",
                run->tally.missed, steps, run->tally.residual_max);
    else
        fprintf(out, "no step missed its tolerance; the largest residual was %.2e m/s\n",
                run->tally.residual_max);
    if (run->tally.fallbacks)
        fprintf(out,
                "no impulse closed the joints of %" PRId64
                " machines, counted in every step; they lost energy (docs/how-to/joints.md)\n",
                run->tally.fallbacks);
    print_overlap(&run->tally.overlap, out);
    fprintf(out, "hash %016" PRIx64 "\n", run->hash);
    run_print_shares(run, out);
    if (run->profiled)
        run_profile_print(run, out);
    print_results_dir(run, out);
}

/* ---- JSON ---- */

static void write_overlap_json(JsonOut *json, const TalusOverlapSummary *o)
{
    json_open_object(json, "overlap");
    json_write_int(json, "loaded", o->loaded);
    json_write_real(json, "mean", o->mean);
    json_write_real(json, "p99", o->p99);
    json_write_real(json, "max", o->max);
    json_write_real(json, "kappa", o->kappa);
    json_close_object(json);
}

void run_report_json(const Run *run)
{
    const RunTally *tally = &run->tally;
    JsonOut json;
    struct rusage use;
    char scene[256], hash[32];
    getrusage(RUSAGE_SELF, &use);
    run_format_scene_name(run->settings.scene, scene, sizeof scene);
    snprintf(hash, sizeof hash, "%016" PRIx64, run->hash);
    json_start(&json, json_to_stream, stdout);
    json_open_object(&json, NULL);
    json_write_text(&json, "scene", scene);
    json_write_int(&json, "seed", run->settings.seed);
    json_write_text(&json, "backend", talus_world_backend(run->world));
    json_write_int(&json, "ranks", talus_comm_size(run->comm));
    json_write_int(&json, "threads", talus_world_threads(run->world));
    json_write_int(&json, "steps", talus_world_steps(run->world));
    json_write_real(&json, "time", talus_world_time(run->world));
    json_write_int(&json, "bodies", talus_world_body_count(run->world));
    json_write_int(&json, "contacts", tally->contacts);
    json_write_real(&json, "wall_seconds", run->clock.wall);
    json_write_real(&json, "cpu_seconds", cpu_seconds(&use));
    json_open_object(&json, "penetration");
    json_write_real(&json, "mean", tally->penetration_mean);
    json_write_real(&json, "max", tally->penetration_max);
    json_close_object(&json);
    write_overlap_json(&json, &tally->overlap);
    json_write_real(&json, "kinetic_energy", tally->kinetic);
    json_write_int(&json, "iterations", tally->iterations);
    json_write_real(&json, "residual", tally->residual);
    json_write_real(&json, "residual_max", tally->residual_max);
    json_write_int(&json, "missed_steps", tally->missed);
    json_write_int(&json, "projection_fallbacks", tally->fallbacks);
    json_write_int(&json, "peak_memory_bytes", (int64_t)run_peak_bytes());
    json_write_text(&json, "hash", hash);
    run_write_shares(run, &json);
    if (run->profiled)
        run_profile_write_json(run, &json);
    json_close_object(&json);
    json_finish(&json);
    fflush(stdout);
}
