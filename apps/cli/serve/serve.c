/* cli/serve/serve.c - civetweb around serve_request.h and serve_files.h.
 *
 * civetweb parses requests and owns sockets and threads. It has no document root and never searches for a file:
 * on_request answers every request. Every connection has a thread while its request lasts, at most as long as the
 * limits below allow. While nearly all threads are in use, serve_connections.h keeps slow clients from
 * blocking others. The behaviour of civetweb 1.15 and the necessary additions were found by experiment;
 * tests/cli_view.sh checks them. */
#include "serve.h"

#include "cli/page.h"
#include "serve_connections.h"
#include "serve_request.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "io/text/text.h"

#include <civetweb.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUEUE "128"       /* connections that wait for a thread */
#define BACKLOG "1024"    /* connections that wait to enter the queue */
#define REQUEST_MS "5000" /* limit of each wait for a client, ms */

enum {
    PIECE_BYTES = 1 << 16, /* maximum size of one write */
    DRAIN_BYTES = 1 << 21, /* maximum that drain_body reads before it aborts the connection */
    REQUEST_BYTES =
        16384, /* civetweb's limit: twice SERVE_HEADERS_BYTES, so that refusals come from here, with a reason */
    MIN_RATE = 1 << 18, /* bytes per second that a client must read, after request_seconds */
    HEADERS_MAX = MG_MAX_HEADERS
};

/* Seconds within which the body of a request must arrive; also part of the limit of an answer (send_bytes). */
static const double request_seconds = 5.0;

struct Server {
    struct mg_context *context;
    ServeFiles *files;
    Connections *connections;
    atomic_int port; /* atomic: a free port is known only after the first threads have started */
    char token[SERVE_TOKEN_LENGTH + 1];
};

/* A request in progress. */
typedef struct Exchange {
    Server *server;
    struct mg_connection *conn;
    const struct mg_request_info *info; /* NULL if the request could not be read */
    Connection *connection;             /* its record in server->connections; NULL: none */
    ServeVerdict verdict;
    double started; /* clock reading, s */
} Exchange;

bool serve_available(void)
{
    return true;
}

const char *serve_build_hint(void)
{
    return "";
}

/* Aborts the connection: reads and writes on it end at once. */
static void abort_connection(const Exchange *x)
{
    if (x->info && x->info->remote_port > 0)
        socket_abort(x->server->port, x->info->remote_port);
}

/* ---- answers ---- */

/* Sends the status line and the headers; `more` is further header lines, each with its line end, or "". */
static void send_headers(const Exchange *x, int status, const char *type, uint64_t length,
                         const char *more)
{
    char head[1024];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %llu\r\n"
                     "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                     "Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n"
                     "Referrer-Policy: no-referrer\r\nConnection: close\r\n%s\r\n",
                     status, mg_get_response_code_text(x->conn, status), type,
                     (unsigned long long)length, more);
    mg_write(x->conn, head, (size_t)n);
}

/* Sends part of an answer; *sent counts the bytes so far. Returns false if the client is gone or reads too slowly. */
static bool send_bytes(const Exchange *x, const void *bytes, size_t size, uint64_t *sent)
{
    const char *from = bytes;
    while (size > 0) {
        size_t n = size < PIECE_BYTES ? size : PIECE_BYTES;
        if (mg_write(x->conn, from, n) != (int)n)
            return false;
        from += n;
        size -= n;
        *sent += n;
        connection_note_progress(x->connection);
        double seconds = talus_now() - x->started;
        if (seconds > request_seconds + (double)*sent / MIN_RATE) {
            abort_connection(x);
            return false;
        }
    }
    return true;
}

/* If the request has a body: ends the answer, then reads and discards the rest of the body, up to DRAIN_BYTES and for
 * request_seconds, because closing the connection earlier would discard the answer. Then aborts the connection, since
 * civetweb would read a longer body to its end. */
static void drain_body(const Exchange *x)
{
    char buffer[4096];
    size_t bytes = 0;
    if (!x->info || (x->info->content_length <= 0 && !mg_get_header(x->conn, "Transfer-Encoding")))
        return;
    connection_set_draining(x->connection);
    sockets_shut(x->server->port, x->info->remote_port, SHUT_WR);
    while (bytes < DRAIN_BYTES && talus_now() - x->started < request_seconds) {
        int n = mg_read(x->conn, buffer, sizeof buffer);
        if (n <= 0)
            break;
        bytes += (size_t)n;
    }
    abort_connection(x);
}

/* Sends an answer as a whole, of a HEAD request the headers alone. Returns `status`. */
static int answer_bytes(const Exchange *x, int status, const char *type, const char *more,
                        const void *bytes, size_t size)
{
    uint64_t sent = 0;
    send_headers(x, status, type, size, more);
    if (!x->verdict.headers_only)
        send_bytes(x, bytes, size, &sent);
    return status;
}

/* Answers with the line "STATUS: TEXT"; if the status is 400 or above, also drains the request's body. Returns
 * `status`. */
static int answer_text(const Exchange *x, int status, const char *text, const char *more)
{
    char line[1200];
    int n = snprintf(line, sizeof line, "%d: %s\n", status, text);
    answer_bytes(x, status, "text/plain; charset=utf-8", more, line,
                 (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
    if (status >= 400)
        drain_body(x);
    return status;
}

/* ---- content ---- */

/* Writes the JSON value that answers the request. */
typedef TalusStatus WriteJson(const Exchange *x, JsonOut *json);

/* Appends the JSON value to `text`, in memory, because the length of an answer must be known before it is sent. */
static TalusStatus build_json(const Exchange *x, WriteJson *write, TalusText *text)
{
    JsonOut json;
    json_start(&json, json_to_text, text);
    TalusStatus status = write(x, &json);
    json_finish(&json);
    if (status == TALUS_OK && text->status != TALUS_OK)
        status = talus_fail(TALUS_ERR_MEMORY, "no memory for the answer");
    return status;
}

/* Answers with the JSON value that `write` makes, or with status 500 if that fails. */
static int answer_json(const Exchange *x, WriteJson *write)
{
    TalusText text = {0};
    int status = build_json(x, write, &text) == TALUS_OK
                     ? answer_bytes(x, 200, "application/json", "", text.bytes, text.size)
                     : answer_text(x, 500, talus_error(), "");
    talus_release(text.bytes);
    return status;
}

static TalusStatus write_status(const Exchange *x, JsonOut *json)
{
    return serve_files_write_status(x->server->files, json);
}

static TalusStatus write_index(const Exchange *x, JsonOut *json)
{
    return serve_files_write_index(x->server->files, x->verdict.from, json);
}

static TalusStatus write_steps(const Exchange *x, JsonOut *json)
{
    return serve_files_write_steps(x->server->files, x->verdict.from, x->verdict.stride, json);
}

static TalusStatus write_run(const Exchange *x, JsonOut *json)
{
    return serve_files_write_run(x->server->files, x->server->token, json);
}

static void append_piece(TalusText *text, PagePiece piece)
{
    talus_text_put(text, (const char *)piece.bytes, piece.size);
}

/* Answers with the template and the JSON value about the run, without frames. */
static int answer_page(const Exchange *x)
{
    TalusText text = {0};
    append_piece(&text, page_viewer[0]);
    TalusStatus made = build_json(x, write_run, &text);
    append_piece(&text, page_viewer[1]);
    append_piece(&text, page_viewer[2]);
    int status = made == TALUS_OK && text.status == TALUS_OK
                     ? answer_bytes(x, 200, "text/html; charset=utf-8", "", text.bytes, text.size)
                     : answer_text(x, 500, talus_error(), "");
    talus_release(text.bytes);
    return status;
}

/* Sends `count` bytes of the file from `first` on; fewer than announced if the file is truncated meanwhile. */
static void send_file(const Exchange *x, int fd, uint64_t first, uint64_t count)
{
    char *buffer;
    uint64_t sent = 0;
    if (TALUS_ALLOC(buffer, PIECE_BYTES, "answer") != TALUS_OK)
        return;
    while (sent < count) {
        size_t want = count - sent < PIECE_BYTES ? (size_t)(count - sent) : PIECE_BYTES;
        ssize_t n = pread(fd, buffer, want, (off_t)(first + sent));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || !send_bytes(x, buffer, (size_t)n, &sent))
            break;
    }
    talus_release(buffer);
}

/* Answers with the bytes of a file, which it closes, that the Range header asks for. */
static int answer_file(const Exchange *x, int fd, uint64_t size)
{
    uint64_t first, count;
    char more[128];
    int status = serve_parse_range(x->verdict.range, size, &first, &count);
    if (status == 416) {
        snprintf(more, sizeof more, "Content-Range: bytes */%llu\r\n", (unsigned long long)size);
        answer_text(x, status, "expected one range of bytes within the file", more);
    } else {
        if (status == 206)
            snprintf(more, sizeof more, "Content-Range: bytes %llu-%llu/%llu\r\n",
                     (unsigned long long)first, (unsigned long long)(first + count - 1),
                     (unsigned long long)size);
        else
            snprintf(more, sizeof more, "Accept-Ranges: bytes\r\n");
        send_headers(x, status, "application/octet-stream", count, more);
        if (!x->verdict.headers_only)
            send_file(x, fd, first, count);
    }
    close(fd);
    return status;
}

static int answer_frames(const Exchange *x)
{
    uint64_t size;
    int fd = serve_files_open_frames(x->server->files, &size);
    return fd < 0 ? answer_text(x, 404, "there are no frames", "") : answer_file(x, fd, size);
}

static int answer_ranks(const Exchange *x)
{
    uint64_t size;
    int fd = serve_files_open_ranks(x->server->files, &size);
    return fd < 0 ? answer_text(x, 404, "the run was on one rank", "") : answer_file(x, fd, size);
}

static int answer_fields(const Exchange *x)
{
    uint64_t size;
    int fd = serve_files_open_fields(x->server->files, &size);
    return fd < 0 ? answer_text(x, 404, "no fields have been measured here", "")
                  : answer_file(x, fd, size);
}

/* Answers with a HEAD chunk of the frames file. */
static int answer_frames_head(const Exchange *x)
{
    TalusPacker chunk = {0};
    int status = serve_files_pack_head(x->server->files, x->verdict.from, &chunk) == TALUS_OK
                     ? answer_bytes(x, 200, "application/octet-stream", "", chunk.bytes, chunk.size)
                     : answer_text(x, 404, talus_error(), "");
    talus_packer_clear(&chunk);
    return status;
}

/* Reads the x->verdict.body bytes of the body, without a zero after them; returns false if they do not come within
 * request_seconds. Reads byte by byte: a read of many bytes waits for all, and a slow client would never finish. */
static bool read_body(const Exchange *x, char *body)
{
    for (int n = 0; n < x->verdict.body; n++)
        if (talus_now() - x->started > request_seconds || mg_read(x->conn, body + n, 1) != 1)
            return false;
    return true;
}

/* Sends the command word in the request's body to the run; answers with the status. */
static int answer_control(const Exchange *x)
{
    char body[SERVE_BODY_BYTES + 1];
    if (!read_body(x, body))
        return answer_text(x, 408, "the body did not come in time", "");
    const char *word = serve_parse_action(body, (size_t)x->verdict.body);
    if (!word)
        return answer_text(x, 400, "expected {\"action\": \"pause\", \"run\" or \"stop\"}", "");
    TalusStatus status = serve_files_send_command(x->server->files, word);
    if (status == TALUS_ERR_ARGUMENT)
        return answer_text(x, 409, talus_error(), "");
    if (status != TALUS_OK)
        return answer_text(x, 500, talus_error(), "");
    return answer_json(x, write_status);
}

/* ---- civetweb ---- */

/* Passes the request to serve_judge_request in its own types. */
static ServeVerdict judge_request(const Exchange *x, const char *path, const char *query)
{
    const struct mg_request_info *info = x->info;
    ServeHeader headers[HEADERS_MAX];
    for (int i = 0; i < info->num_headers; i++)
        headers[i] = (ServeHeader){info->http_headers[i].name, info->http_headers[i].value};
    ServeRequest request = {.method = info->request_method,
                            .path = path,
                            .query = query,
                            .headers = headers,
                            .header_count = info->num_headers};
    return serve_judge_request(&request, x->server->port, x->server->token);
}

/* Answers according to x->verdict. Returns the status of the answer. */
static int answer_request(const Exchange *x)
{
    char allow[64] = "";
    if (x->verdict.status != 200) {
        if (x->verdict.allow)
            snprintf(allow, sizeof allow, "Allow: %s\r\n", x->verdict.allow);
        return answer_text(x, x->verdict.status, x->verdict.message, allow);
    }
    switch (x->verdict.route) {
    case SERVE_PAGE: return answer_page(x);
    case SERVE_STATUS: return answer_json(x, write_status);
    case SERVE_INDEX: return answer_json(x, write_index);
    case SERVE_STEPS: return answer_json(x, write_steps);
    case SERVE_FRAMES: return answer_frames(x);
    case SERVE_RANKS: return answer_ranks(x);
    case SERVE_FIELDS: return answer_fields(x);
    case SERVE_FRAMES_HEAD: return answer_frames_head(x);
    case SERVE_CONTROL: return answer_control(x);
    case SERVE_ROUTES: break;
    }
    return answer_text(x, 404, "there is nothing here", "");
}

static Exchange make_exchange(struct mg_connection *conn)
{
    return (Exchange){.server = mg_get_user_data(mg_get_context(conn)),
                      .conn = conn,
                      .info = mg_get_request_info(conn),
                      .connection = mg_get_user_connection_data(conn),
                      .started = talus_now()};
}

/* Callback: judges and answers a request. Returns the status of the answer; not being 0, it tells civetweb that the
 * request is done. */
static int on_request(struct mg_connection *conn)
{
    Exchange x = make_exchange(conn);
    connection_set_answering(x.connection, x.info->remote_port);
    x.verdict = judge_request(&x, x.info->request_uri, x.info->query_string);
    return answer_request(&x);
}

/* Judges and answers a request whose target is not a path ("http://127.0.0.1:PORT/api/status", "*"). civetweb passes
 * such a target on as it is, so that the query is split off here: on the heap, because civetweb gives its threads a
 * stack of 100 kB. */
static int answer_target(Exchange *x)
{
    char *path;
    size_t size = strlen(x->info->request_uri) + 1;
    if (TALUS_ALLOC(path, size, "target") != TALUS_OK)
        return answer_text(x, 500, talus_error(), "");
    memcpy(path, x->info->request_uri, size);
    char *query = strchr(path, '?');
    if (query)
        *query++ = '\0';
    x->verdict = judge_request(x, path, query);
    int status = answer_request(x);
    talus_release(path);
    return status;
}

/* Callback: answers a request that civetweb itself refuses with `status`. Corrects two of its refusals: that of a
 * target that is an address without a path, and 411 (Content-Length missing) where Content-Length is not a number. */
static int on_http_error(struct mg_connection *conn, int status, const char *message)
{
    Exchange x = make_exchange(conn);
    (void)message;
    connection_set_answering(x.connection, x.info ? x.info->remote_port : 0);
    if (status == 400 && x.info && x.info->request_uri && serve_is_address(x.info->request_uri))
        answer_target(&x);
    else if (status == 411)
        answer_text(&x, 400, "Content-Length is no number", "");
    else
        answer_text(&x, status, "this is no request that the server understands", "");
    return 0;
}

/* Callback when a thread has taken the connection: registers it and stores its record in *connection. */
static int on_connect(const struct mg_connection *conn, void **connection)
{
    Server *server = mg_get_user_data(mg_get_context(conn));
    *connection = connections_add(server->connections);
    return 0;
}

/* Callback before the connection is closed: answers a request that civetweb has read but not passed on, then removes
 * the connection's record. */
static void on_close(const struct mg_connection *conn)
{
    Exchange x = make_exchange((struct mg_connection *)conn);
    if (x.connection && !connection_is_answered(x.connection) && x.info && x.info->request_uri) {
        connection_set_answering(x.connection, x.info->remote_port);
        answer_target(&x);
    }
    connection_remove(x.connection);
}

/* Suppresses civetweb's log of client errors. */
static int log_nothing(const struct mg_connection *conn, const char *message)
{
    (void)conn;
    (void)message;
    return 1;
}

/* Writes random hexadecimal digits. */
static TalusStatus make_token(char token[SERVE_TOKEN_LENGTH + 1])
{
    unsigned char bytes[SERVE_TOKEN_LENGTH / 2];
    if (getentropy(bytes, sizeof bytes) != 0)
        return talus_fail(TALUS_ERR_IO, "no random numbers for the page's token: %s",
                          strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return TALUS_OK;
}

/* Starts civetweb; sets server->port to the port in use and passes it to the connections. */
static TalusStatus start_listening(Server *server, int port)
{
    char address[64], threads[16], request_bytes[16];
    snprintf(address, sizeof address, "127.0.0.1:%d", port);
    snprintf(threads, sizeof threads, "%d", SERVE_THREADS);
    snprintf(request_bytes, sizeof request_bytes, "%d", REQUEST_BYTES);
    const char *options[] = {"listening_ports",
                             address,
                             "num_threads",
                             threads,
                             "request_timeout_ms",
                             REQUEST_MS,
                             "max_request_size",
                             request_bytes,
                             "enable_keep_alive",
                             "no",
                             "decode_url",
                             "no",
                             "connection_queue",
                             QUEUE,
                             "listen_backlog",
                             BACKLOG,
                             "tcp_nodelay",
                             "1",
                             "enable_directory_listing",
                             "no",
                             NULL};
    struct mg_callbacks callbacks = {.init_connection = on_connect,
                                     .begin_request = on_request,
                                     .http_error = on_http_error,
                                     .connection_close = on_close,
                                     .log_message = log_nothing};
    struct mg_server_port found;
    server->port = port;
    mg_init_library(0);
    server->context = mg_start(&callbacks, server, options);
    if (!server->context || mg_get_server_ports(server->context, 1, &found) != 1) {
        if (server->context)
            mg_stop(server->context);
        mg_exit_library();
        return talus_fail(TALUS_ERR_IO,
                          "cannot listen on 127.0.0.1:%d; another program may have that port, and "
                          "--port 0 takes a free one",
                          port);
    }
    server->port = found.port;
    connections_set_port(server->connections, found.port);
    return TALUS_OK;
}

TalusStatus serve_start(ServeFiles *files, int port, Server **out)
{
    Server *server;
    TALUS_TRY(TALUS_ALLOC(server, 1, "server"));
    server->files = files;
    TalusStatus status = make_token(server->token);
    TALUS_THEN(status, connections_start(&server->connections));
    TALUS_THEN(status, start_listening(server, port));
    if (status == TALUS_OK) {
        *out = server;
        return TALUS_OK;
    }
    if (server->connections)
        connections_stop(server->connections);
    talus_release(server);
    return status;
}

int serve_port(const Server *server)
{
    return server->port;
}

void serve_stop(Server *server)
{
    sockets_shut(server->port, 0, SHUT_RDWR);
    mg_stop(server->context);
    mg_exit_library();
    connections_stop(server->connections);
    talus_release(server);
}
