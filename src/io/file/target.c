/* io/file/target.c - finds out whether the file at an output's path is replaced or written directly. */
#include "io/file/target.h"

#include "base/memory.h"
#include "io/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40, LINK_BYTES = 4096 };

static TalusStatus refuse(const char *path, const char *why)
{
    return talus_fail_file(path, TALUS_ERR_IO, "cannot create: %s", why);
}

/* ---- links ---- */

/* Replaces *path, a link, by the path it points to; a relative one starts from the folder of the link. */
static TalusStatus follow_one(char **path)
{
    char to[LINK_BYTES], *next;
    ssize_t n = readlink(*path, to, sizeof to - 1);
    if (n < 0)
        return refuse(*path, strerror(errno));
    to[n] = '\0';
    const char *slash = strrchr(*path, '/');
    int folder = to[0] == '/' || !slash ? 0 : (int)(slash + 1 - *path);
    TALUS_TRY(talus_path(&next, "%.*s%s", folder, *path, to));
    talus_release(*path);
    *path = next;
    return TALUS_OK;
}

/* Sets *out to the end of the chain of links at `path`, which need not exist; to `path` itself if that is no link. */
static TalusStatus follow_links(const char *path, char **out)
{
    struct stat about;
    TALUS_TRY(talus_path(out, "%s", path));
    for (int i = 0; lstat(*out, &about) == 0 && S_ISLNK(about.st_mode); i++) {
        TalusStatus status = i < LINKS_MAX ? follow_one(out) : refuse(path, strerror(ELOOP));
        if (status != TALUS_OK) {
            talus_release(*out);
            *out = NULL;
            return status;
        }
    }
    return TALUS_OK;
}

/* ---- kinds of targets ---- */

/* Returns the descriptor of standard output or error if that writes to this file, else -1. Replacing the file would
 * separate the output from what the program prints there. */
static int standard_stream(const struct stat *about)
{
    struct stat stream;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &stream) == 0 && talus_same_file(&stream, about))
            return fd;
    return -1;
}

/* True if the resolved path leads to the file `about`. A link in /proc may lead to a file other than its text says. */
static bool is_named(const char *path, const struct stat *about)
{
    struct stat named;
    return lstat(path, &named) == 0 && talus_same_file(&named, about);
}

static TalusStatus write_through(const char *path, int stream, TalusTarget *out)
{
    out->fd = stream >= 0 ? fcntl(stream, F_DUPFD_CLOEXEC, 0)
                          : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return out->fd >= 0 ? TALUS_OK
                        : talus_fail_file(path, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
}

/* Keeps out->path, `path` with links resolved, if the file is to be replaced; else frees it and opens out->fd. */
static TalusStatus decide(const char *path, TalusTarget *out)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return errno == ENOENT ? TALUS_OK : refuse(path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return refuse(path, strerror(EISDIR));
    int stream = standard_stream(&about);
    if (stream < 0 && S_ISREG(about.st_mode) && is_named(out->path, &about))
        return TALUS_OK;
    talus_release(out->path);
    out->path = NULL;
    return write_through(path, stream, out);
}

TalusStatus talus_target_find(const char *path, TalusTarget *out)
{
    *out = (TalusTarget){.fd = -1};
    TALUS_TRY(follow_links(path, &out->path));
    TalusStatus status = decide(path, out);
    if (status != TALUS_OK) {
        talus_release(out->path);
        out->path = NULL;
    }
    return status;
}
