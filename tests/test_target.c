/* Where an output goes that a user named: files are replaced, links are followed and stay, and what is not a
 * file is written through. Every node is made here, in a folder of the test's own. */
#include "io/file/file.h"
#include "io/file/target.h"
#include "support/test.h"

#include "base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static TalusStatus put(const char *path, const char *text)
{
    TalusFile *file;
    TalusStatus status = talus_file_create(path, &file);
    if (status != TALUS_OK)
        return status;
    talus_file_put(file, text, strlen(text));
    return talus_file_commit(file);
}

static void check_text(const char *path, const char *expected)
{
    char *text = NULL;
    size_t size;
    CHECK_OK(talus_read_file(path, 1 << 16, &text, &size));
    CHECK_STR(text, expected);
    talus_release(text);
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 ? about.st_mode : 0;
}

static void start_with(const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        unlink(names[i]);
}

TEST(links_stay_and_lead_to_the_new_file)
{
    static const char *const names[] = {"near", "chain", "bare", "deep/file", "plain", "new"};
    mkdir("deep", 0777);
    start_with(names, 6);
    CHECK_OK(put("deep/file", "old"));
    CHECK(symlink("deep/file", "near") == 0);
    CHECK(symlink("near", "chain") == 0);
    CHECK_OK(put("chain", "one"));
    CHECK(S_ISLNK(mode_of("chain")) && S_ISLNK(mode_of("near")) && S_ISREG(mode_of("deep/file")));
    check_text("deep/file", "one");
    CHECK(mode_of("chain.tmp") == 0 && mode_of("deep/file.tmp") == 0);

    CHECK(symlink("deep/../new", "bare") == 0); /* leads to nothing yet */
    CHECK_OK(put("bare", "two"));
    CHECK(S_ISLNK(mode_of("bare")) && S_ISREG(mode_of("new")));
    check_text("new", "two");

    CHECK_OK(put("plain", "three"));
    CHECK_OK(put("plain", "four"));
    check_text("plain", "four");
}

TEST(links_to_nowhere_are_refused)
{
    static const char *const names[] = {"this", "that", "gone"};
    start_with(names, 3);
    CHECK(symlink("this", "that") == 0 && symlink("that", "this") == 0);
    CHECK(put("this", "x") == TALUS_ERR_IO);
    CHECK(strstr(talus_error(), "this: cannot create: ") == talus_error());
    CHECK(symlink("no/folder/file", "gone") == 0);
    CHECK(put("gone", "x") == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "gone: cannot create: No such file or directory");
    CHECK(S_ISLNK(mode_of("this")) && S_ISLNK(mode_of("gone")));
    mkdir("folder", 0777);
    CHECK(put("folder", "x") == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "folder: cannot create: Is a directory");
}

/* What a user keeps beside an output is not ours. */
TEST(neighbours_are_left_alone)
{
    static const char *const names[] = {"mine.tmp", "mine", "victim", "mine.tmp-1"};
    start_with(names, 4);
    CHECK_OK(put("victim", "precious"));
    CHECK(symlink("victim", "mine.tmp") == 0);
    CHECK_OK(put("mine.tmp-1", "also mine"));
    CHECK_OK(put("mine", "written"));
    check_text("mine", "written");
    check_text("victim", "precious");
    check_text("mine.tmp-1", "also mine");
    CHECK(S_ISLNK(mode_of("mine.tmp")) && mode_of("mine.tmp-2") == 0);
}

/* The reader is another process. */
static pid_t read_pipe(const char *from, const char *to)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    char text[256];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    ssize_t n, written = 0;
    while ((n = read(in, text, sizeof text)) > 0)
        written += write(out, text, (size_t)n);
    _exit(written >= 0 ? 0 : 1);
}

static void check_pipe(const char *path)
{
    int status;
    pid_t reader = read_pipe("pipe", "read");
    REQUIRE(reader > 0);
    CHECK_OK(put(path, "through"));
    CHECK(waitpid(reader, &status, 0) == reader && status == 0);
    CHECK(S_ISFIFO(mode_of("pipe")));
    check_text("read", "through");
}

TEST(pipes_are_written_through)
{
    static const char *const names[] = {"pipe", "to-pipe"};
    start_with(names, 2);
    REQUIRE(mkfifo("pipe", 0666) == 0);
    check_pipe("pipe");
    CHECK(symlink("pipe", "to-pipe") == 0);
    check_pipe("to-pipe");
    CHECK(S_ISLNK(mode_of("to-pipe")));
}

/* A node of the same numbers as the null device, which swallows what it is given. */
TEST(devices_are_written_through)
{
    static const char *const names[] = {"node", "to-node"};
    start_with(names, 2);
    if (mknod("node", S_IFCHR | 0666, makedev(1, 3)) != 0)
        SKIP("no nodes can be made here");
    int fd = open("node", O_WRONLY);
    if (fd < 0)
        SKIP("nodes cannot be opened here");
    close(fd);
    CHECK_OK(put("node", "swallowed"));
    CHECK(S_ISCHR(mode_of("node")));
    CHECK(symlink("node", "to-node") == 0);
    CHECK_OK(put("to-node", "swallowed"));
    CHECK(S_ISCHR(mode_of("node")) && S_ISLNK(mode_of("to-node")));
    CHECK(mode_of("node.tmp") == 0);
}

/* A program that names its own standard output keeps what it printed before and prints after. */
TEST(standard_output_is_written_through)
{
    pid_t child = fork();
    if (child == 0) {
        int fd = open("printed", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(fd, STDOUT_FILENO);
        bool ok = write(STDOUT_FILENO, "before ", 7) == 7 && put("printed", "file ") == TALUS_OK &&
                  put("/proc/self/fd/1", "again ") == TALUS_OK &&
                  write(STDOUT_FILENO, "after", 5) == 5;
        _exit(ok ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    check_text("printed", "before file again after");
}

int main(void)
{
    RUN(links_stay_and_lead_to_the_new_file);
    RUN(links_to_nowhere_are_refused);
    RUN(neighbours_are_left_alone);
    RUN(pipes_are_written_through);
    RUN(devices_are_written_through);
    RUN(standard_output_is_written_through);
    return talus_test_result();
}
