#include "support/test.h"

#include "base/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int passed, failed, skipped;
    int failures; // in the running test
    bool skip;    // the running test asked to be skipped
} state;

static void failure(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%s:%d: ", file, line);
    vprintf(format, args);
    printf("\n");
    fflush(stdout); // a crash further on must not lose it
    va_end(args);
    state.failures++;
}

/* Whether the name contains one of the texts between commas. */
static bool chosen(const char *name, const char *texts)
{
    for (;;) {
        char text[128];
        size_t length = strcspn(texts, ",");
        snprintf(text, sizeof text, "%.*s", (int)length, texts);
        if (strstr(name, text))
            return true;
        if (!texts[length])
            return false;
        texts += length + 1;
    }
}

void talus_test_run(const char *name, void (*test)(void))
{
    const char *only = getenv("TALUS_TEST");
    if (only && !chosen(name, only))
        return;
    state.failures = 0;
    state.skip = false;
    test();
    const char *verdict;
    if (state.failures) {
        state.failed++;
        verdict = "FAILED";
    } else if (state.skip) {
        state.skipped++;
        verdict = "skipped";
    } else {
        state.passed++;
        verdict = "ok";
    }
    printf("%-8s %s\n", verdict, name);
    fflush(stdout);
}

void talus_test_skip(const char *reason)
{
    printf("skip: %s\n", reason);
    state.skip = true;
}

int talus_test_result(void)
{
    if (!state.failed && talus_memory_now() > 0) { // a failed test may leave early
        printf("FAILED   the library still holds %zu bytes\n", talus_memory_now());
        state.failed++;
    }
    printf("%d passed, %d failed, %d skipped\n", state.passed, state.failed, state.skipped);
    if (state.failed)
        return 1;
    if (state.passed)
        return 0;
    return state.skipped ? 77 : 1;
}

bool talus_test_check(bool ok, const char *file, int line, const char *text)
{
    if (!ok)
        failure(file, line, "CHECK(%s)", text);
    return ok;
}

bool talus_test_near(double a, double b, double tol, const char *file, int line, const char *text_a,
                     const char *text_b)
{
    bool ok = a == b || fabs(a - b) <= tol; // equal infinities have no difference
    if (!ok)
        failure(file, line, "%s = %.17g is not within %.3g of %s = %.17g (difference %.3g)", text_a,
                a, tol, text_b, b, a - b);
    return ok;
}

bool talus_test_int(long long a, long long b, const char *file, int line, const char *text_a,
                    const char *text_b)
{
    if (a != b)
        failure(file, line, "%s = %lld, but %s = %lld", text_a, a, text_b, b);
    return a == b;
}

bool talus_test_str(const char *a, const char *b, const char *file, int line, const char *text_a,
                    const char *text_b)
{
    bool ok = a && b ? strcmp(a, b) == 0 : a == b;
    if (!ok)
        failure(file, line, "strings differ\n  %s:\n    %s\n  %s:\n    %s", text_a,
                a ? a : "(null)", text_b, b ? b : "(null)");
    return ok;
}

bool talus_test_ok(TalusStatus status, const char *file, int line, const char *text)
{
    if (status != TALUS_OK)
        failure(file, line, "%s: status %d: %s", text, (int)status, talus_error());
    return status == TALUS_OK;
}
