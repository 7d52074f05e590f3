/* server.c - a small HTTP/1.1 server of one page and its events (server.h).
 *
 * In: connections. Out: /SECRET/ is the page, /SECRET/events the events of the page (server-sent events).
 * Method: no call waits. Whoever does not ask within some seconds, or asks for anything else, is sent away. Each answer
 * ends its connection, but for events.
 */
#include "tool/explore/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 10 /* seconds for a request and its answer */, WAITING = 16 };

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool complain(const char *what) {
    fprintf(stderr, "fsc explore: %s: %s\n", what, strerror(errno));
    return false;
}

/* ---- Opening, closing -------------------------------------------------------------------------------------------- */

static bool make_secret(char secret[SECRET_HEX + 1]) {
    unsigned char bytes[SECRET_HEX / 2];
    if (getentropy(bytes, sizeof bytes) != 0) return complain("no random numbers");
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

bool server_open(Server *s, uint16_t port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int yes = 1;
    for (size_t i = 0; i < SERVER_CLIENTS; i++) s->clients[i].fd = -1;
    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (s->fd < 0) return complain("no socket");
    (void)setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    bool ok = bind(s->fd, (struct sockaddr *)&at, size) == 0 && listen(s->fd, WAITING) == 0 &&
              getsockname(s->fd, (struct sockaddr *)&at, &size) == 0 && fcntl(s->fd, F_SETFL, O_NONBLOCK) == 0;
    s->port = ntohs(at.sin_port);
    if (!ok && errno == EADDRINUSE) fprintf(stderr, "fsc explore: port %u is taken; leave --port out\n", port);
    else if (!ok) complain("cannot listen on 127.0.0.1");
    return ok && make_secret(s->secret);
}

static void drop(Client *c) {
    close(c->fd);
    text_free(&c->answer);
    *c = (Client){.fd = -1};
}

void server_close(Server *s) {
    for (size_t i = 0; i < SERVER_CLIENTS; i++)
        if (s->clients[i].fd >= 0) drop(&s->clients[i]);
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/* The value of the only header of that name, up to the line's end; NULL: there is none, or several. */
static const char *header_of(const char *request, const char *name, size_t *length) {
    const char *found = NULL;
    size_t n = strlen(name);
    for (const char *line = strstr(request, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, n) != 0 || line[n] != ':') continue;
        if (found) return NULL;
        found = line + n + 1 + strspn(line + n + 1, " \t");
        *length = strcspn(found, " \t\r\n");
    }
    return found;
}

/* 127.0.0.1 or localhost, with whatever port: behind a tunnel it is another than ours. */
static bool is_this_machine(const char *host, size_t n) {
    static const char *const names[] = {"127.0.0.1", "localhost"};
    for (size_t i = 0; i < COUNT(names); i++) {
        size_t length = strlen(names[i]);
        if (n < length || strncasecmp(host, names[i], length) != 0) continue;
        if (n == length) return true;
        return host[length] == ':' && n > length + 1 && strspn(host + length + 1, "0123456789") == n - length - 1;
    }
    return false;
}

/* In a time that says nothing of where they differ. */
static bool same_secret(const char *a, const char *b) {
    unsigned different = 0;
    for (size_t i = 0; i < SECRET_HEX; i++) different |= (unsigned)(a[i] ^ b[i]);
    return different == 0;
}

static void put_head(Text *out, const char *status, const char *type) {
    text_printf(out,
                "HTTP/1.1 %s\r\nContent-Type: %s\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
                "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                "connect-src 'self'; img-src blob: data:; base-uri 'none'; form-action 'none'; "
                "frame-ancestors 'none'\r\n",
                status, type);
}

static void answer(Client *c, const char *status, const char *type, const char *body, size_t n, bool has_body) {
    put_head(&c->answer, status, type);
    text_printf(&c->answer, "Content-Length: %zu\r\nConnection: close\r\n\r\n", n);
    if (has_body) text_write(&c->answer, body, n);
    c->is_answered = true;
}

static void refuse(Client *c, const char *status) {
    answer(c, status, "text/plain; charset=utf-8", status, strlen(status), true);
}

static void listen_on(const Server *s, Client *c) {
    put_head(&c->answer, "200 OK", "text/event-stream");
    text_printf(&c->answer, "Connection: keep-alive\r\n\r\ndata: %u\n\n", s->version);
    c->is_answered = c->is_listening = true;
}

static void handle(const Server *s, Client *c) {
    const char *request = c->request;
    bool is_head = strncmp(request, "HEAD ", 5) == 0;
    size_t host_length = 0, method = strcspn(request, " \r"), n = 0;
    const char *host = header_of(request, "Host", &host_length), *path = request + method + (request[method] == ' ');
    n = strcspn(path, " ?\r\n");
    if (!host || !is_this_machine(host, host_length)) {
        refuse(c, "403 Forbidden");
    } else if (!is_head && strncmp(request, "GET ", 4) != 0) {
        refuse(c, "405 Method Not Allowed");
    } else if (n == strlen("/favicon.ico") && strncmp(path, "/favicon.ico", n) == 0) {
        answer(c, "204 No Content", "image/x-icon", "", 0, false);
    } else if (n < 2 + SECRET_HEX || path[0] != '/' || path[1 + SECRET_HEX] != '/' ||
               !same_secret(path + 1, s->secret)) {
        refuse(c, "404 Not Found");
    } else if (n == 2 + SECRET_HEX) {
        answer(c, "200 OK", "text/html; charset=utf-8", s->page->at, s->page->len, !is_head);
    } else if (!is_head && n == 8 + SECRET_HEX && strncmp(path + 2 + SECRET_HEX, "events", 6) == 0) {
        listen_on(s, c);
    } else {
        refuse(c, "404 Not Found");
    }
}

/* ---- Connections ------------------------------------------------------------------------------------------------- */

static void accept_all(Server *s) {
    for (int fd; (fd = accept(s->fd, NULL, NULL)) >= 0;) {
        Client *free_one = NULL;
        for (size_t i = 0; i < SERVER_CLIENTS && !free_one; i++)
            if (s->clients[i].fd < 0) free_one = &s->clients[i];
        if (!free_one || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) close(fd);
        else *free_one = (Client){.fd = fd, .since = seconds()};
    }
}

/* False: it is gone. */
static bool receive(const Server *s, Client *c) {
    char beyond[256]; /* what comes behind the request is nobody's */
    char *to = c->is_answered ? beyond : c->request + c->got;
    ssize_t n = recv(c->fd, to, c->is_answered ? sizeof beyond : REQUEST_BYTES - c->got, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (n < 0 || c->is_answered) return true;
    c->got += (size_t)n;
    c->request[c->got] = '\0';
    if (memchr(c->request, '\0', c->got)) refuse(c, "400 Bad Request");
    else if (strstr(c->request, "\r\n\r\n")) handle(s, c);
    else if (c->got == REQUEST_BYTES) refuse(c, "431 Request Header Fields Too Large");
    return true;
}

/* False: it is gone, or has all. */
static bool send_on(Client *c) {
    while (c->sent < c->answer.len) {
        ssize_t n = send(c->fd, c->answer.at + c->sent, c->answer.len - c->sent, MSG_NOSIGNAL);
        if (n < 0) return errno == EAGAIN || errno == EINTR;
        c->sent += (size_t)n;
    }
    if (!c->is_listening) return !c->is_answered || shutdown(c->fd, SHUT_WR) == 0; /* it closes, or is late */
    c->answer.len = c->sent = 0;
    return true;
}

static bool is_late(const Client *c) {
    return !c->is_listening && seconds() - c->since > PATIENCE;
}

size_t server_wants(const Server *s, struct pollfd *wants) {
    wants[0] = (struct pollfd){.fd = s->fd, .events = POLLIN};
    for (size_t i = 0; i < SERVER_CLIENTS; i++) {
        const Client *c = &s->clients[i];
        bool has_more = c->sent < c->answer.len;
        wants[1 + i] = (struct pollfd){.fd = c->fd, .events = (short)(POLLIN | (has_more ? POLLOUT : 0))};
    }
    return 1 + SERVER_CLIENTS;
}

void server_turn(Server *s, const struct pollfd *wants) {
    for (size_t i = 0; i < SERVER_CLIENTS; i++) {
        Client *c = &s->clients[i];
        if (c->fd < 0 || wants[1 + i].fd != c->fd) continue;
        bool is_there = !(wants[1 + i].revents & (POLLIN | POLLHUP | POLLERR)) || receive(s, c);
        if (is_there && c->sent < c->answer.len) is_there = send_on(c);
        if (!is_there || is_late(c)) drop(c);
    }
    if (wants[0].revents & POLLIN) accept_all(s);
}

void server_tell(Server *s, const char *name, uint32_t number) {
    for (size_t i = 0; i < SERVER_CLIENTS; i++) {
        Client *c = &s->clients[i];
        if (c->fd < 0 || !c->is_listening) continue;
        if (name) text_printf(&c->answer, "event: %s\n", name);
        text_printf(&c->answer, "data: %u\n\n", number);
        if (!send_on(c)) drop(c);
    }
}
