/* io/file/target.c - finds out whether the file at an output's path is replaced or written directly. */
#include "io/file/target.h"

#include "base/memory.h"
#include "io/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINKS_MAX = 40,   /* maximum of links followed one after another */
    LINK_BYTES = 4096 /* size of the path in a link, with NUL; longer ones are cut */
};

static TalusStatus fail_create(const char *path, const char *why)
{
    return talus_fail_file(path, TALUS_ERR_IO, "cannot create: %s", why);
}

/* ---- links ---- */

/* Replaces *path, a link, by the path that the link points to; a relative path starts from the folder of the link. */
static TalusStatus follow_one_link(char **path)
{
    char to[LINK_BYTES], *next;
    ssize_t n = readlink(*path, to, sizeof to - 1);
    if (n < 0)
        return fail_create(*path, strerror(errno));
    to[n] = '\0';
    const char *slash = strrchr(*path, '/');
    int folder = to[0] == '/' || !slash ? 0 : (int)(slash + 1 - *path);
    TALUS_TRY(talus_path_format(&next, "%.*s%s", folder, *path, to));
    talus_release(*path);
    *path = next;
    return TALUS_OK;
}

/* Sets *out to the end of the chain of links at `path`, which need not exist; to `path` itself if that is no link. */
static TalusStatus follow_links(const char *path, char **out)
{
    struct stat about;
    TALUS_TRY(talus_path_format(out, "%s", path));
    for (int i = 0; lstat(*out, &about) == 0 && S_ISLNK(about.st_mode); i++) {
        TalusStatus status =
            i < LINKS_MAX ? follow_one_link(out) : fail_create(path, strerror(ELOOP));
        if (status != TALUS_OK) {
            talus_release(*out);
            *out = NULL;
            return status;
        }
    }
    return TALUS_OK;
}

/* ---- kinds of targets ---- */

/* Returns the descriptor of standard output or standard error, whichever writes to the file `about`; -1 if neither
 * does. If such a file were replaced, what the program prints would go on into the old file. */
static int find_standard_stream(const struct stat *about)
{
    struct stat stream;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &stream) == 0 && talus_same_file(&stream, about))
            return fd;
    return -1;
}

/* True if `path`, with links resolved, leads to the file `about`. A link in /proc may lead to another file than the
 * path in its text. */
static bool path_leads_to(const char *path, const struct stat *about)
{
    struct stat named;
    return lstat(path, &named) == 0 && talus_same_file(&named, about);
}

/* Opens out->fd for writing: a copy of the descriptor `stream`, or the file at `path` if `stream` is -1. */
static TalusStatus open_directly(const char *path, int stream, TalusTarget *out)
{
    out->fd = stream >= 0 ? fcntl(stream, F_DUPFD_CLOEXEC, 0)
                          : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return out->fd >= 0 ? TALUS_OK
                        : talus_fail_file(path, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
}

/* Decides between replacing the file at `path` and writing to it directly. On entry out->path is `path` with links
 * resolved; it stays if the file is to be replaced. Otherwise frees out->path and opens out->fd. */
static TalusStatus choose_replace_or_write(const char *path, TalusTarget *out)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return errno == ENOENT ? TALUS_OK : fail_create(path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return fail_create(path, strerror(EISDIR));
    int stream = find_standard_stream(&about);
    if (stream < 0 && S_ISREG(about.st_mode) && path_leads_to(out->path, &about))
        return TALUS_OK;
    talus_release(out->path);
    out->path = NULL;
    return open_directly(path, stream, out);
}

TalusStatus talus_target_find(const char *path, TalusTarget *out)
{
    *out = (TalusTarget){.fd = -1};
    TALUS_TRY(follow_links(path, &out->path));
    TalusStatus status = choose_replace_or_write(path, out);
    if (status != TALUS_OK) {
        talus_release(out->path);
        out->path = NULL;
    }
    return status;
}
