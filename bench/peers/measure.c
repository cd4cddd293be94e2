/* measure FILE COMMAND [ARGUMENT]...: runs the command and leaves in FILE what it cost:
 * cpu_s (user and system) and rss_mb (peak). For peers that come as a program, not a library. */
#define _DEFAULT_SOURCE

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static int write_cost(const char *path, const struct rusage *usage)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return 0;
    fprintf(file, "cpu_s=%.4f rss_mb=%.1f\n", seconds(usage->ru_utime) + seconds(usage->ru_stime),
            (double)usage->ru_maxrss / 1024);
    return fclose(file) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: measure FILE COMMAND [ARGUMENT]...\n");
        return 2;
    }
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("measure");
        return 1;
    }
    if (!write_cost(argv[1], &usage)) {
        perror(argv[1]);
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
