/* cli/run/shares.c - what each rank of a run has had to do, for the closing report. */
#include "run.h"

#include "base/memory.h"
#include "comm/comm.h"
#include "world/ranks/ranks.h"

#include <math.h>
#include <sys/resource.h>

/* ru_maxrss is in kibibytes on Linux. */
double run_peak_bytes(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return 1024.0 * (double)use.ru_maxrss;
}

static RunShare own_share(const Run *run)
{
    const TalusCommUse *use = &run->comm_use;
    int64_t bodies, contacts;
    talus_ranks_count(run->world, &bodies, &contacts);
    return (RunShare){.bodies = (double)bodies,
                      .contacts = (double)contacts,
                      .step_seconds = run->step_seconds,
                      .message_seconds = use->message_seconds,
                      .reduce_seconds = use->reduce_seconds + use->broadcast_seconds,
                      .hidden_seconds = use->hidden_seconds,
                      .messages = (double)use->messages,
                      .bytes = (double)use->bytes,
                      .peak_bytes = run_peak_bytes()};
}

TalusStatus run_gather_shares(Run *run)
{
    RunShare own = own_share(run);
    const TalusMessage message = {&own, sizeof own, 0};
    TalusInbox inbox = {0};
    TalusStatus status = talus_comm_route(run->comm, &message, 1, &inbox);
    if (status == TALUS_OK && inbox.count > 0)
        status = TALUS_ALLOC(run->share, (size_t)inbox.count, "shares of ranks");
    for (int r = 0; status == TALUS_OK && r < inbox.count; r++)
        run->share[r] = *(const RunShare *)inbox.message[r].data;
    talus_inbox_clear(&inbox);
    return run_agree(run, status);
}

/* Seconds in steps without those in messages and reductions. */
static double compute_seconds(const RunShare *s)
{
    return fmax(0.0, s->step_seconds - s->message_seconds - s->reduce_seconds);
}

static void print_share(const char *name, const RunShare *s, FILE *out)
{
    fprintf(out, "  %-8s %10.0f %10.0f %10.2f %10.2f %10.2f %10.2f %10.0f %10.1f %10.0f\n", name,
            s->bodies, s->contacts, compute_seconds(s), s->hidden_seconds, s->message_seconds,
            s->reduce_seconds, s->messages, 1e-6 * s->bytes, 1e-6 * s->peak_bytes);
}

/* Prints the ranks with the least and the most to compute. */
static void print_extremes(const RunShare *share, int ranks, FILE *out)
{
    int least = 0, most = 0;
    char name[32];
    for (int r = 1; r < ranks; r++) {
        least = compute_seconds(&share[r]) < compute_seconds(&share[least]) ? r : least;
        most = compute_seconds(&share[r]) > compute_seconds(&share[most]) ? r : most;
    }
    for (int k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "%d", k ? most : least);
        print_share(name, &share[k ? most : least], out);
    }
}

/* Returns the largest over the mean time that a rank has computed. */
static double imbalance(const RunShare *share, int ranks)
{
    double sum = 0.0, most = 0.0;
    for (int r = 0; r < ranks; r++) {
        sum += compute_seconds(&share[r]);
        most = fmax(most, compute_seconds(&share[r]));
    }
    return sum > 0.0 ? most * ranks / sum : 1.0;
}

void run_print_shares(const Run *run, FILE *out)
{
    enum { ROWS = 32 };
    const int ranks = talus_comm_size(run->comm);
    char name[32];
    if (!run->share)
        return;
    fprintf(
        out,
        "\nSteps by rank; hidden: computing while a halo was under way; halo and sums with waiting "
        "for others; imbalance of computing %.2f\n",
        imbalance(run->share, ranks));
    fprintf(out, "  %-8s %10s %10s %10s %10s %10s %10s %10s %10s %10s\n", "rank", "bodies",
            "contacts", "compute s", "hidden s", "halo s", "sums s", "messages", "MB sent",
            "peak MB");
    if (ranks > ROWS)
        print_extremes(run->share, ranks, out);
    for (int r = 0; r < ranks && ranks <= ROWS; r++) {
        snprintf(name, sizeof name, "%d", r);
        print_share(name, &run->share[r], out);
    }
    fputc('\n', out);
}

void run_write_shares(const Run *run, JsonOut *json)
{
    if (!run->share)
        return;
    json_open_array(json, "rank_shares");
    for (int r = 0; r < talus_comm_size(run->comm); r++) {
        const RunShare *s = &run->share[r];
        json_open_object(json, NULL);
        json_write_real(json, "bodies", s->bodies);
        json_write_real(json, "contacts", s->contacts);
        json_write_real(json, "compute_seconds", compute_seconds(s));
        json_write_real(json, "hidden_seconds", s->hidden_seconds);
        json_write_real(json, "halo_seconds", s->message_seconds);
        json_write_real(json, "sums_seconds", s->reduce_seconds);
        json_write_real(json, "messages", s->messages);
        json_write_real(json, "bytes", s->bytes);
        json_write_real(json, "peak_memory_bytes", s->peak_bytes);
        json_close_object(json);
    }
    json_close_array(json);
}
