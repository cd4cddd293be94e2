/* cli/run/ranks.c - a run on several ranks: what all of them do together. */
#include "run.h"

#include "base/timer.h"
#include "comm/comm.h"

void run_order(const Run *run, RunOrder order)
{
    if (run->comm)
        (void)talus_comm_share(run->comm, order);
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

/* Adds what has been used between two moments. */
static void add_use(TalusCommUse *sum, const TalusCommUse *now, const TalusCommUse *before)
{
    sum->reduce_seconds += now->reduce_seconds - before->reduce_seconds;
    sum->broadcast_seconds += now->broadcast_seconds - before->broadcast_seconds;
    sum->message_seconds += now->message_seconds - before->message_seconds;
    sum->hidden_seconds += now->hidden_seconds - before->hidden_seconds;
    sum->messages += now->messages - before->messages;
    sum->bytes += now->bytes - before->bytes;
}

TalusStatus run_make_step(Run *run, TalusStepInfo *info)
{
    static const TalusCommUse none;
    const TalusCommUse before = run->comm ? run->comm->use : none;
    const double start = talus_now();
    const TalusStatus status = talus_world_step_to(run->world, run->settings.until, info);
    run->step_seconds += talus_now() - start;
    if (run->comm)
        add_use(&run->comm_use, &run->comm->use, &before);
    return run_agree(run, status);
}
