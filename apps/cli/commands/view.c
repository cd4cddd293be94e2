/* cli/commands/view.c - talus view: shows a run in the browser. */
#include "cli/cli.h"
#include "cli/serve/serve.h"

#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    int port;
    bool open;
} options;

static const CliOption option_table[] = {
    {"port", 'p', CLI_COUNT, &options.port, "N",
     "the port to listen on, 0 to 65535 (default 0: a free one)"},
    {"open", 0, CLI_FLAG, &options.open, NULL, "open a browser there (xdg-open)"},
};

/* Starts xdg-open with its output to standard error and with the signal mask `mask`, that of this program before it
 * blocked signals. Returns the process number, or -1 after a message. */
static pid_t open_browser(const char *address, const sigset_t *mask)
{
    extern char **environ;
    char program[] = "xdg-open", url[64];
    snprintf(url, sizeof url, "%s", address);
    char *words[] = {program, url, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t pipes;
    pid_t process;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&how, mask);
    posix_spawnattr_setsigdefault(&how, &pipes);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    if (posix_spawnp(&process, program, &files, &how, words, environ) != 0) {
        cli_fail("xdg-open is not there to open a browser (Debian: xdg-utils); the address is %s",
                 url);
        process = -1;
    }
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return process;
}

/* Waits for a signal of `stop` other than SIGCHLD. If the browser's process ends meanwhile, collects its status and
 * reports a failure. */
static void wait_for_stop(const sigset_t *stop, pid_t browser, const char *address)
{
    int number, status;
    while (sigwait(stop, &number) == 0 && number == SIGCHLD)
        if (browser > 0 && waitpid(browser, &status, WNOHANG) == browser && status != 0)
            cli_fail("xdg-open could not open a browser; the address is %s", address);
}

/* True if the signal is ignored now. Before view sets any handler, that is what its parent left, as nohup(1) does. */
static bool is_ignored(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* Serves until SIGINT, SIGTERM or SIGHUP (unless that is ignored on entry) arrives. All threads block these signals;
 * this thread receives them by sigwait. Returns the exit code. */
static int serve_until_signal(ServeFiles *files, const char *operand)
{
    sigset_t stop, before;
    Server *server;
    char address[64];
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGCHLD);
    if (!is_ignored(SIGHUP))
        sigaddset(&stop, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &stop, &before);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* if ignored, as some parents leave it, sigwait misses it */
    if (serve_start(files, options.port, &server) != TALUS_OK)
        return cli_fail_library();
    snprintf(address, sizeof address, "http://127.0.0.1:%d/", serve_port(server));
    printf("%s\n", address);
    fflush(stdout);
    fprintf(stderr, "talus: %s is there to look at, from this machine alone; Ctrl-C ends it\n",
            operand);
    wait_for_stop(&stop, options.open ? open_browser(address, &before) : -1, address);
    serve_stop(server);
    return CLI_OK;
}

static int view_main(const CliList *operands)
{
    const char *operand = operands->item[0];
    if (options.port > 65535)
        return cli_fail_usage(&cli_view, "--port %d: expected a number up to 65535", options.port);
    if (!serve_available())
        return cli_fail(
            "this build has no server to view with: %s; `talus export %s -o FILE.html` makes "
            "a page without one",
            serve_build_hint(), operand);
    RunLocation location;
    ServeFiles *files;
    if (run_location_find(operand, &location) != TALUS_OK)
        return cli_fail_library();
    TalusStatus status = serve_files_open(&location, &files);
    run_location_clear(&location);
    if (status != TALUS_OK)
        return cli_fail_library();
    int code = serve_until_signal(files, operand);
    serve_files_close(files);
    return code;
}

const CliCommand cli_view = {
    .name = "view",
    .summary = "Shows a run in the browser, while it goes on or after.",
    .operands = "DIR",
    .operands_min = 1,
    .operands_max = 1,
    .details =
        "Prints the address, then serves DIR (or a frames file) until Ctrl-C. Programs of this\n"
        "machine alone can connect. The page follows a run that goes on and can pause and\n"
        "stop it. `talus export` makes a page that needs no server.\n",
    CLI_OPTIONS(option_table),
    .main = view_main};
