/* cli/run/follow.c - a run on several ranks: what ranks other than 0 do. */
#include "run.h"

#include "comm/comm.h"

/* Waits for an order; RUN_END if a rank has failed. */
static RunOrder await_order(const Run *run)
{
    const double order = talus_comm_share(run->comm, RUN_END);
    return order > RUN_END ? (RunOrder)order : RUN_END; /* NaN: a rank has failed */
}

/* Does what rank 0 orders. */
static void obey(Run *run, RunOrder order, const RunMakers *make)
{
    TalusStepInfo info;
    switch (order) {
    case RUN_BUILD: (void)run_agree(run, make->build(make->context)); break;
    case RUN_LOAD: (void)run_agree(run, make->load(make->context)); break;
    case RUN_DIVIDE: (void)run_divide(run); break;
    case RUN_STEP: (void)run_make_step(run, &info); break;
    case RUN_GATHER: (void)run_gather(run); break;
    case RUN_OWNERS: (void)run_write_owners(run, NULL); break;
    case RUN_SHARES: (void)run_gather_shares(run); break;
    case RUN_END: break;
    }
}

void run_follow(Run *run, const RunMakers *make)
{
    for (RunOrder order; (order = await_order(run)) != RUN_END;)
        obey(run, order, make);
}
