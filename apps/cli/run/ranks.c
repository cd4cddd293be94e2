/* cli/run/ranks.c - a run on several ranks: what all of them do together. */
#include "run.h"

#include "base/memory.h"
#include "base/timer.h"
#include "comm/comm.h"
#include "world/ranks/ranks.h"

#include <math.h>

void run_order(const Run *run, RunOrder order)
{
    if (run->comm)
        (void)talus_comm_share(run->comm, order);
}

RunOrder run_await_order(const Run *run)
{
    const double order = talus_comm_share(run->comm, RUN_END);
    return order > RUN_END ? (RunOrder)order : RUN_END; /* NaN: a rank has failed */
}

/* Prints why this rank has failed, unless rank 0 has failed as well, which says why for all. */
static void report_failure(const Run *run, TalusStatus status)
{
    const bool own = status != TALUS_OK && status != TALUS_ERR_CANCELLED;
    const double first_has = talus_comm_share(run->comm, own);
    if (own && first_has != 1.0)
        cli_fail("rank %d: %s", talus_comm_rank(run->comm), talus_error());
}

TalusStatus run_agree(const Run *run, TalusStatus status)
{
    if (!run->comm)
        return status;
    status = talus_comm_agree(run->comm, status);
    if (status != TALUS_OK)
        report_failure(run, status);
    return status;
}

TalusStatus run_divide(Run *run)
{
    if (!run->comm)
        return TALUS_OK;
    const TalusStatus status = run_agree(run, talus_world_divide(run->world, run->comm));
    run->divided = status == TALUS_OK;
    return status;
}

static void drop_whole(Run *run)
{
    talus_world_destroy(run->whole);
    run->whole = NULL;
}

/* Adds what has been used between two moments. */
static void add_use(TalusCommUse *sum, const TalusCommUse *now, const TalusCommUse *before)
{
    sum->reduce_seconds += now->reduce_seconds - before->reduce_seconds;
    sum->broadcast_seconds += now->broadcast_seconds - before->broadcast_seconds;
    sum->message_seconds += now->message_seconds - before->message_seconds;
    sum->messages += now->messages - before->messages;
    sum->bytes += now->bytes - before->bytes;
}

TalusStatus run_make_step(Run *run, TalusStepInfo *info)
{
    static const TalusCommUse none;
    const TalusCommUse before = run->comm ? run->comm->use : none;
    const double start = talus_now();
    drop_whole(run);
    const TalusStatus status = talus_world_step_to(run->world, run->settings.until, info);
    run->step_seconds += talus_now() - start;
    if (run->comm)
        add_use(&run->comm_use, &run->comm->use, &before);
    return run_agree(run, status);
}

TalusStatus run_gather(Run *run)
{
    return run_agree(run, talus_world_gather(run->world, &run->whole));
}

TalusWorld *run_get_whole(Run *run)
{
    if (!run->divided)
        return run->world;
    if (!run->whole) {
        run_order(run, RUN_GATHER);
        if (run_gather(run) != TALUS_OK)
            drop_whole(run);
    }
    return run->whole;
}

/* ---- shares ---- */

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
    fprintf(out, "  %-8s %10.0f %10.0f %10.2f %10.2f %10.2f %10.0f %10.1f\n", name, s->bodies,
            s->contacts, compute_seconds(s), s->message_seconds, s->reduce_seconds, s->messages,
            1e-6 * s->bytes);
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
    fprintf(out,
            "\nSteps by rank; halo and sums with waiting for others; imbalance of computing %.2f\n",
            imbalance(run->share, ranks));
    fprintf(out, "  %-8s %10s %10s %10s %10s %10s %10s %10s\n", "rank", "bodies", "contacts",
            "compute s", "halo s", "sums s", "messages", "MB sent");
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
        json_write_real(json, "halo_seconds", s->message_seconds);
        json_write_real(json, "sums_seconds", s->reduce_seconds);
        json_write_real(json, "messages", s->messages);
        json_write_real(json, "bytes", s->bytes);
        json_write_real(json, "peak_memory_bytes", s->peak_bytes);
        json_close_object(json);
    }
    json_close_array(json);
}
