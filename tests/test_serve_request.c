/* Whom the server answers: its own names, with and without the port of http, one Origin; and ranges at the
 * ends of what a file can be. tests/cli_view.sh asks the server itself. */
#include "serve_request.h"
#include "support/test.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static int judged(int port, const char *host, const char *origin)
{
    ServeHeader headers[] = {{"hOST", host}, {"Origin", origin}};
    ServeRequest request = {
        .method = "GET", .path = "/api/status", .headers = headers, .header_count = origin ? 2 : 1};
    return serve_judge(&request, port, TOKEN).status;
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

TEST(ranges_of_the_largest_file)
{
    uint64_t first, count;
    CHECK_INT(serve_range("bytes=0-", INT64_MAX, &first, &count), 206);
    CHECK(first == 0 && count == INT64_MAX);
    CHECK_INT(serve_range("bytes=1-18446744073709551615", INT64_MAX, &first, &count), 206);
    CHECK(first == 1 && count == INT64_MAX - 1);
    CHECK_INT(serve_range("bytes=-18446744073709551615", 5, &first, &count), 206);
    CHECK(first == 0 && count == 5);
    CHECK_INT(serve_range("bytes=9223372036854775807-", INT64_MAX, &first, &count), 416);
    CHECK_INT(serve_range("bytes=0-18446744073709551616", 5, &first, &count), 416);
    CHECK_INT(serve_range("bytes=0-0", 0, &first, &count), 416);
}

int main(void)
{
    RUN(own_names);
    RUN(the_port_of_http);
    RUN(ranges_of_the_largest_file);
    return talus_test_result();
}
