/* stop.c - SIGINT and SIGTERM: the first signal is noted, and the command stops in order when it sees
 * cli_stop_signal(); another signal, more than a second after the first, ends the program at once. */
#include "cli.h"

#include "base/timer.h"

#include <signal.h>
#include <stdatomic.h>

/* Atomic, because the handler may run on a worker thread. */
static atomic_int stop_signal;
static atomic_llong stop_time; /* time of the first signal, ns; 0: none yet */

/* Handler: notes the first signal, ends the program at a later one. Ignores signals within a second of the first,
 * because timeout(1) signals a process and, at once, its group. */
static void request_stop(int number)
{
    long long now = (long long)(1e9 * talus_now()), none = 0;
    if (atomic_compare_exchange_strong(&stop_time, &none, now)) {
        stop_signal = number;
    } else if (now - none > 1000000000) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

void cli_catch_signals(void)
{
    struct sigaction action = {.sa_handler = request_stop, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* makes a file-size limit a failed write, which is reported */
}

int cli_stop_signal(void)
{
    return stop_signal;
}

const char *cli_stop_name(void)
{
    return stop_signal == SIGINT ? "SIGINT" : "SIGTERM";
}
