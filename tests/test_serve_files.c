/* The server and its directory: the one that was opened, whatever its name comes to mean; the state of a run
 * that lives, has ended or has died; links are not followed. */
#include "cli/run/dir.h"
#include "cli/serve/serve_files.h"
#include "support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory without an earlier test's files; those that a run without frames has. */
static void clear(const char *dir)
{
    static const char *const names[] = {"run.json", "run.lock", "control", "control.tmp"};
    char path[256];
    mkdir(dir, 0777);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
}

static int open_dir(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY);
    CHECK(fd >= 0);
    return fd;
}

static void say(const char *dir, const char *state)
{
    RunState run = {
        .state = state, .title = "Title", .until = 1.0, .every = 0.1, .bodies = 6000000000};
    int fd = open_dir(dir);
    CHECK(run_state_write(fd, &run));
    close(fd);
}

static RunLock take_lock(const char *dir, int *lock)
{
    int fd = open_dir(dir);
    RunLock taken = run_lock_take(fd, lock);
    close(fd);
    return taken;
}

static bool exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

static ServeFiles *open_files(const char *dir)
{
    RunLocation location;
    ServeFiles *files = NULL;
    CHECK_OK(run_location_find(dir, &location));
    CHECK_OK(serve_files_open(&location, &files));
    run_location_clear(&location);
    return files;
}

TEST(life_and_death)
{
    RunState run;
    int lock, second;
    clear("live");
    CHECK(!run_state_read(AT_FDCWD, "live", &run));
    CHECK_STR(run.state, "unknown");
    say("live", "running");
    CHECK(run_state_read(AT_FDCWD, "live", &run) && !run.alive);
    CHECK_STR(run.state, "died");
    REQUIRE(take_lock("live", &lock) == RUN_LOCKED);
    CHECK(take_lock("live", &second) == RUN_LOCK_HELD);
    CHECK(run_state_read(AT_FDCWD, "live", &run) && run.alive);
    CHECK_STR(run.state, "running");
    CHECK_INT(run.bodies, 6000000000); /* more than 32 bits */
    say("live", "finished");
    CHECK(run_state_read(AT_FDCWD, "live", &run) && !run.alive);
    CHECK_STR(run.state, "finished");
    close(lock);
}

/* Someone moves the run away, and another begins under its name: what is looked at and told is still the one
 * that was opened. */
TEST(another_directory_of_the_same_name)
{
    char word[32];
    int lock;
    clear("moved");
    rmdir("moved");
    clear("here");
    say("here", "running");
    REQUIRE(take_lock("here", &lock) == RUN_LOCKED);
    ServeFiles *files = open_files("here");
    REQUIRE(files);
    CHECK(rename("here", "moved") == 0);
    clear("here");
    say("here", "finished");
    CHECK_OK(serve_files_send_command(files, RUN_PAUSE));
    CHECK(!exists("here/control"));
    int moved = open_dir("moved");
    CHECK(run_control_take(moved, word, sizeof word));
    close(moved);
    CHECK_STR(word, "pause");
    CHECK(!exists("moved/control") && !exists("moved/control.tmp"));
    close(lock);
    CHECK_INT(serve_files_send_command(files, RUN_PAUSE), TALUS_ERR_ARGUMENT);
    serve_files_close(files);
}

/* A run.json or a control that is a link is none of the directory's. */
TEST(links)
{
    int lock;
    RunState run;
    clear("linked");
    clear("target");
    say("target", "running");
    REQUIRE(take_lock("linked", &lock) == RUN_LOCKED);
    CHECK(symlink("../target/run.json", "linked/run.json") == 0);
    CHECK(!run_state_read(AT_FDCWD, "linked", &run));
    CHECK_STR(run.state, "unknown");
    say("linked", "running"); /* replaces the link, not what it points to */
    ServeFiles *files = open_files("linked");
    REQUIRE(files);
    CHECK(symlink("../target/run.lock", "linked/control.tmp") == 0);
    CHECK_INT(serve_files_send_command(files, RUN_STOP), TALUS_ERR_IO);
    CHECK(!exists("target/run.lock") && !exists("linked/control"));
    serve_files_close(files);
    close(lock);
}

int main(void)
{
    RUN(life_and_death);
    RUN(another_directory_of_the_same_name);
    RUN(links);
    return talus_test_result();
}
