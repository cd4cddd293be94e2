// A small test harness. A test file reads:
//
//     #include "support/test.h"
//
//     TEST(adds) { CHECK(1 + 1 == 2); }
//     TEST(needs_data) { if (!data) SKIP("no shared data"); ... }
//
//     int main(void)
//     {
//         RUN(adds);
//         RUN(needs_data);
//         return talus_test_result();
//     }
//
// A failed CHECK prints file:line and the values, and the test goes on; REQUIRE leaves the test.
// If no test failed, memory of the library that is not given back by the end is a failure, in every build.
// TALUS_TEST=text,text in the environment runs only the tests whose name contains one of the texts.

#ifndef TALUS_TESTS_SUPPORT_TEST_H
#define TALUS_TESTS_SUPPORT_TEST_H

#include <stdbool.h>
#include <talus/base.h>

#define TEST(name) static void name(void)
#define RUN(name) talus_test_run(#name, name)

#define CHECK(cond) talus_test_check((cond), __FILE__, __LINE__, #cond)
// |a - b| <= tol, or a == b (equal infinities); false for NaN.
#define CHECK_NEAR(a, b, tol) talus_test_near((a), (b), (tol), __FILE__, __LINE__, #a, #b)
#define CHECK_INT(a, b) talus_test_int((a), (b), __FILE__, __LINE__, #a, #b)
#define CHECK_STR(a, b) talus_test_str((a), (b), __FILE__, __LINE__, #a, #b)
// For what returns a TalusStatus; prints talus_error() when it is not TALUS_OK.
#define CHECK_OK(expr) talus_test_ok((expr), __FILE__, __LINE__, #expr)

#define REQUIRE(cond)     \
    do {                  \
        if (!CHECK(cond)) \
            return;       \
    } while (0)
#define REQUIRE_OK(expr)     \
    do {                     \
        if (!CHECK_OK(expr)) \
            return;          \
    } while (0)
// Leave the test and count it as skipped (unless a check has failed before).
#define SKIP(reason)             \
    do {                         \
        talus_test_skip(reason); \
        return;                  \
    } while (0)

void talus_test_run(const char *name, void (*test)(void));
void talus_test_skip(const char *reason);

// Prints the counts; returns main's status: 0, 1 after a failure or without any test, 77 if all
// were skipped.
int talus_test_result(void);

bool talus_test_check(bool ok, const char *file, int line, const char *text);
bool talus_test_near(double a, double b, double tol, const char *file, int line, const char *text_a,
                     const char *text_b);
bool talus_test_int(long long a, long long b, const char *file, int line, const char *text_a,
                    const char *text_b);
bool talus_test_str(const char *a, const char *b, const char *file, int line, const char *text_a,
                    const char *text_b);
bool talus_test_ok(TalusStatus status, const char *file, int line, const char *text);

#endif
