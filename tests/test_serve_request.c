/* Whom the server answers: its own names, with and without the port of http, one Origin; and ranges at the
 * ends of what a file can be. tests/cli_view.sh asks the server itself. */
#include "cli/serve/serve_request.h"
#include "support/test.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static int judged(int port, const char *host, const char *origin)
{
    ServeHeader headers[] = {{"hOST", host}, {"Origin", origin}};
    ServeRequest request = {
        .method = "GET", .path = "/api/status", .headers = headers, .header_count = origin ? 2 : 1};
    return serve_judge_request(&request, port, TOKEN).status;
}

TEST(own_names)
{
    CHECK_INT(judged(8080, "127.0.0.1:8080", NULL), 200);
    CHECK_INT(judged(8080, "LocalHost:8080", "http://localhost:8080"), 200);
    CHECK_INT(judged(8080, "[::1]:8080", "http://[::1]:8080"), 200);
    CHECK_INT(judged(8080, "127.0.0.1", NULL), 403);
    CHECK_INT(judged(8080, "127.0.0.1:80", NULL), 403);
    CHECK_INT(judged(8080, "127.0.0.1:8080", "http://127.0.0.1"), 403);
}

/* A browser says neither Host nor Origin with port 80. */
TEST(the_port_of_http)
{
    CHECK_INT(judged(80, "127.0.0.1", NULL), 200);
    CHECK_INT(judged(80, "127.0.0.1:80", "http://127.0.0.1"), 200);
    CHECK_INT(judged(80, "localhost", "http://localhost:80"), 200);
    CHECK_INT(judged(80, "evil.example", NULL), 403);
    CHECK_INT(judged(80, "localhost", "http://localhost:8080"), 403);
    CHECK_INT(judged(80, "localhost", "https://localhost"), 403);
    CHECK_INT(judged(80, "localhost.evil.example", NULL), 403);
    CHECK_INT(judged(80, "", ""), 403);
}

static int asked(const char *method, const char *target, const char *length)
{
    ServeHeader headers[] = {{"Host", "127.0.0.1:8080"}, {"Content-Length", length}};
    ServeRequest request = {
        .method = method, .path = target, .headers = headers, .header_count = length ? 2 : 1};
    return serve_judge_request(&request, 8080, TOKEN).status;
}

/* A path behind this server's own address is that path. */
TEST(addresses)
{
    CHECK_INT(asked("GET", "http://127.0.0.1:8080/api/status", NULL), 200);
    CHECK_INT(asked("GET", "HTTP://LOCALHOST:8080/api/status", NULL), 200);
    CHECK_INT(asked("GET", "http://[::1]:8080", NULL), 200);
    CHECK_INT(asked("HEAD", "http://127.0.0.1:8080/", NULL), 200);
    CHECK_INT(asked("GET", "http://127.0.0.1:8080/canary.txt", NULL), 404);
    CHECK_INT(asked("GET", "http://127.0.0.1/api/status", NULL), 403);
    CHECK_INT(asked("GET", "http://127.0.0.1:80800/api/status", NULL), 403);
    CHECK_INT(asked("GET", "http:///api/status", NULL), 403);
    CHECK_INT(asked("GET", "http://evil.example/api/status", NULL), 403);
    CHECK_INT(asked("GET",
                    "http://127.0.0.1:8080.a-name-that-is-longer-than-any-of-this-server.example/",
                    NULL),
              403);
    CHECK_INT(asked("GET", "https://127.0.0.1:8080/api/status", NULL), 400);
    CHECK_INT(asked("OPTIONS", "*", NULL), 400);
    CHECK_INT(asked("GET", "api/status", NULL), 400);
}

/* Too long whatever it is for, with or without a token; or no number at all. */
TEST(lengths_of_bodies)
{
    static const char *const large[] = {"257", "999999999999999", "1000000000000000",
                                        "9223372036854775808", "99999999999999999999999999"};
    static const char *const wrong[] = {
        "", "-1", "+1", "1 1", "0x10", "1e3", "99999999999999999999999999x"};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        CHECK_INT(asked("POST", "/api/control", large[i]), 413);
        CHECK_INT(asked("GET", "/api/status", large[i]), 413);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_INT(asked("POST", "/api/control", wrong[i]), 400);
        CHECK_INT(asked("GET", "/api/status", wrong[i]), 400);
    }
    CHECK_INT(asked("POST", "/api/control", "256"), 403); /* without a token */
    CHECK_INT(asked("GET", "/api/status", "1"), 400);
    CHECK_INT(asked("GET", "/api/status", "0"), 200);
}

TEST(ranges_of_the_largest_file)
{
    uint64_t first, count;
    CHECK_INT(serve_parse_range("bytes=0-", INT64_MAX, &first, &count), 206);
    CHECK(first == 0 && count == INT64_MAX);
    CHECK_INT(serve_parse_range("bytes=1-18446744073709551615", INT64_MAX, &first, &count), 206);
    CHECK(first == 1 && count == INT64_MAX - 1);
    CHECK_INT(serve_parse_range("bytes=-18446744073709551615", 5, &first, &count), 206);
    CHECK(first == 0 && count == 5);
    CHECK_INT(serve_parse_range("bytes=9223372036854775807-", INT64_MAX, &first, &count), 416);
    CHECK_INT(serve_parse_range("bytes=0-18446744073709551616", 5, &first, &count), 416);
    CHECK_INT(serve_parse_range("bytes=0-0", 0, &first, &count), 416);
}

int main(void)
{
    RUN(own_names);
    RUN(the_port_of_http);
    RUN(addresses);
    RUN(lengths_of_bodies);
    RUN(ranges_of_the_largest_file);
    return talus_test_result();
}
