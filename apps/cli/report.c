/* report.c - what a run says at its end. */
#include "run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

static double cpu_seconds(const struct rusage *use)
{
    return (double)use->ru_utime.tv_sec + (double)use->ru_stime.tv_sec +
           1e-6 * (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec);
}

/* Linux counts in kibibytes. */
static double peak_bytes(const struct rusage *use)
{
    return 1024.0 * (double)use->ru_maxrss;
}

void run_tally_step(RunTally *tally, RunClock *clock, const TalusStepInfo *info)
{
    tally->iterations += info->solve.iterations;
    tally->missed += info->missed;
    tally->residual = info->solve.residual.rms;
    tally->residual_max = fmax(tally->residual_max, tally->residual);
    tally->contacts = info->contacts;
    tally->penetration_mean = info->penetration_mean;
    tally->penetration_max = info->penetration_max;
    tally->kinetic = info->ledger.kinetic;
    clock->detect += info->detect_seconds;
    clock->build += info->build_seconds;
    clock->solve += info->solve_seconds;
    clock->integrate += info->integrate_seconds;
}

/* ---- for people ---- */

static void print_stage(FILE *out, const char *name, double seconds, double total)
{
    fprintf(out, "  %-10s %10.3f s %6.1f %%\n", name, seconds,
            total > 0.0 ? 100.0 * seconds / total : 0.0);
}

static void print_breakdown(const RunClock *clock, FILE *out)
{
    double known = clock->setup + clock->detect + clock->build + clock->solve + clock->integrate +
                   clock->output;
    print_stage(out, "set-up", clock->setup, clock->wall);
    print_stage(out, "detect", clock->detect, clock->wall);
    print_stage(out, "build", clock->build, clock->wall);
    print_stage(out, "solve", clock->solve, clock->wall);
    print_stage(out, "integrate", clock->integrate, clock->wall);
    print_stage(out, "output", clock->output, clock->wall);
    print_stage(out, "other", fmax(0.0, clock->wall - known), clock->wall);
    print_stage(out, "total", clock->wall, clock->wall);
}

void run_report(const Run *run, FILE *out)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    int64_t steps = talus_world_steps(run->world);
    int64_t done = steps - run->first_step;
    double stepping = run->clock.wall - run->clock.setup;
    fputc('\n', out);
    print_breakdown(&run->clock, out);
    fprintf(out,
            "\n%" PRId64 " steps to t = %g s, %.1f steps/s, %.2f s of processor time, %.0f MB\n",
            done, talus_world_time(run->world), stepping > 0.0 ? (double)done / stepping : 0.0,
            cpu_seconds(&use), 1e-6 * peak_bytes(&use));
    if (run->tally.missed)
        fprintf(out,
                "tolerance missed in %" PRId64 " of %" PRId64
                " steps; the worst reached a residual of %.2e m/s\n",
                run->tally.missed, steps, run->tally.residual_max);
    else
        fprintf(out, "no step missed its tolerance; the largest residual was %.2e m/s\n",
                run->tally.residual_max);
    fprintf(out, "hash %016" PRIx64 "\n", talus_world_hash(run->world));
    if (run->dir)
        fprintf(out, "results in %s\n", run->dir);
    else
        fprintf(out, "no frames, tables or checkpoints were written; --out DIR keeps them\n");
}

/* ---- for programs ---- */

static void json_text(const char *text)
{
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            printf("\\%c", *p);
        else if (*p < 0x20)
            printf("\\u%04x", *p);
        else
            putchar(*p);
    }
    putchar('"');
}

/* JSON has no infinities. */
static void json_number(double x)
{
    if (isfinite(x))
        printf("%.17g", x);
    else
        printf("null");
}

static void json_real(const char *key, double x)
{
    printf("  \"%s\": ", key);
    json_number(x);
    printf(",\n");
}

static void json_int(const char *key, int64_t x)
{
    printf("  \"%s\": %" PRId64 ",\n", key, x);
}

/* A scene goes by its name, however it was given. */
static void json_scene(const char *path)
{
    const char *slash = strrchr(path, '/');
    char name[256];
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".json") == 0)
        name[length - 5] = '\0';
    printf("{\n  \"scene\": ");
    json_text(name);
}

void run_report_json(const Run *run)
{
    const RunTally *tally = &run->tally;
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    json_scene(run->settings.scene);
    printf(",\n  \"backend\": ");
    json_text(run->settings.backend ? run->settings.backend : "cpu");
    printf(",\n");
    json_int("threads", talus_world_threads(run->world));
    json_int("steps", talus_world_steps(run->world));
    json_real("time", talus_world_time(run->world));
    json_int("bodies", talus_world_body_count(run->world));
    json_int("contacts", tally->contacts);
    json_real("wall_seconds", run->clock.wall);
    json_real("cpu_seconds", cpu_seconds(&use));
    printf("  \"penetration\": {\"mean\": ");
    json_number(tally->penetration_mean);
    printf(", \"max\": ");
    json_number(tally->penetration_max);
    printf("},\n");
    json_real("kinetic_energy", tally->kinetic);
    json_int("iterations", tally->iterations);
    json_real("residual", tally->residual);
    json_real("residual_max", tally->residual_max);
    json_int("missed_steps", tally->missed);
    json_int("peak_memory_bytes", (int64_t)peak_bytes(&use));
    printf("  \"hash\": \"%016" PRIx64 "\"\n}\n", talus_world_hash(run->world));
    fflush(stdout);
}
