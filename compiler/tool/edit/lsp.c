/* lsp.c - `fsc lsp`: a language server on standard input and output.
 *
 * In: requests and notices of an editor, as JSON-RPC behind Content-Length headers. Out: answers (answer.c, names.c),
 * and messages about a file after each change of it.
 * Method: one loop. A changed file is compiled when nothing more waits to be read, or when a request asks about it, so
 * that typing fast costs one compile.
 */
#include "tool/edit/answer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_MESSAGE = 256 << 20 };
/* Of JSON-RPC. */
enum { PARSE_ERROR = -32700, NO_METHOD = -32601, NOT_READY = -32002, WRONG_PARAMS = -32602 };

typedef struct Server {
    const fsc_compile_options *options;
    Document *documents;
    Text input; /* read, and not yet taken */
    bool is_ready, is_shut, is_over;
} Server;

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static void send_text(const Text *t) {
    printf("Content-Length: %zu\r\n\r\n", t->len);
    fwrite(t->at, 1, t->len, stdout);
    fflush(stdout);
}

/* The id as it came: a number or a string. */
static void put_id(const Json *message, Text *out) {
    const Json *id = json_at(message, "id");
    text_printf(out, "{\"jsonrpc\": \"2.0\", \"id\": ");
    if (id->kind == JSON_STRING) text_json(out, id->text);
    else if (id->kind == JSON_NUMBER) text_printf(out, "%.0f", id->number);
    else text_printf(out, "null");
}

static void send_error(const Json *message, int code, const char *why) {
    Text t = {0};
    put_id(message, &t);
    text_printf(&t, ", \"error\": {\"code\": %d, \"message\": ", code);
    text_json(&t, why);
    text_printf(&t, "}}");
    send_text(&t);
    text_free(&t);
}

static void send_result(const Json *message, const char *result) {
    Text t = {0};
    put_id(message, &t);
    text_printf(&t, ", \"result\": %s}", result);
    send_text(&t);
    text_free(&t);
}

/* More bytes; false: there are none any more. */
static bool read_more(Server *s) {
    char piece[1 << 16];
    ssize_t n;
    do n = read(STDIN_FILENO, piece, sizeof piece);
    while (n < 0 && errno == EINTR);
    if (n > 0) text_write(&s->input, piece, (size_t)n);
    return n > 0;
}

/* The length of a message's head and body, if all of it is here; 0: not yet. A head without a length is dropped. */
static size_t whole_message(Server *s, size_t *body) {
    const char *end = s->input.len ? strstr(s->input.at, "\r\n\r\n") : NULL;
    if (!end) return 0;
    size_t head = (size_t)(end - s->input.at) + 4;
    const char *length = strstr(s->input.at, "Content-Length:");
    unsigned long long n = length && length < end ? strtoull(length + 15, NULL, 10) : 0;
    *body = n <= MOST_MESSAGE ? (size_t)n : 0;
    return s->input.len - head >= *body ? head + *body : 0;
}

static bool is_waiting(Server *s) {
    size_t body;
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    return whole_message(s, &body) || poll(&in, 1, 0) > 0;
}

/* ---- Documents --------------------------------------------------------------------------------------------------- */

/* file:///a%20b.dsl → /a b.dsl; what is no file keeps its name. */
static char *path_of(const char *uri) {
    char *path = strdup(strncmp(uri, "file://", 7) == 0 ? uri + 7 : uri), *to = path;
    if (!path) bug("out of memory for %s", uri);
    for (const char *p = path; *p; p++) {
        char digits[3] = {p[0] == '%' ? p[1] : '\0', p[0] == '%' && p[1] ? p[2] : '\0', '\0'}, *end;
        unsigned long byte = strtoul(digits, &end, 16);
        bool is_byte = digits[1] && *end == '\0' && byte;
        *to++ = is_byte ? (char)byte : *p;
        p += is_byte ? 2 : 0;
    }
    *to = '\0';
    return path;
}

static Document **find(Server *s, const char *uri) {
    Document **d = &s->documents;
    while (*d && strcmp((*d)->uri, uri) != 0) d = &(*d)->next;
    return d;
}

static void publish(const Document *d) {
    Text t = {0};
    text_printf(&t, "{\"jsonrpc\": \"2.0\", \"method\": \"textDocument/publishDiagnostics\", \"params\": ");
    answer_diagnostics(d, &t);
    text_printf(&t, "}");
    send_text(&t);
    text_free(&t);
}

static void refresh(Server *s, Document *d) {
    if (!d->is_stale) return;
    document_compile(d, s->options);
    publish(d);
}

static void open_document(Server *s, const Json *params) {
    const char *uri = json_text(params, "textDocument.uri");
    Document **d = find(s, uri);
    if (!*d) {
        *d = calloc(1, sizeof **d);
        if (!*d) bug("out of memory for %s", uri);
        (*d)->uri = strdup(uri);
        (*d)->path = path_of(uri);
    }
    document_set_text(*d, json_text(params, "textDocument.text"));
}

static void change_document(Server *s, const Json *params) {
    Document *d = *find(s, json_text(params, "textDocument.uri"));
    for (const Json *c = json_at(params, "contentChanges")->first; d && c; c = c->next) /* each is the whole text */
        document_set_text(d, json_text(c, "text"));
}

static void close_document(Server *s, const Json *params) {
    Document **d = find(s, json_text(params, "textDocument.uri")), *old = *d;
    if (!old) return;
    *d = old->next;
    old->found.len = 0;
    publish(old);
    document_free(old);
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *method;
    void (*answer)(const Document *d, const Json *params, Text *out);
} answers[] = {
    {"textDocument/hover", answer_hover},           {"textDocument/definition", answer_definition},
    {"textDocument/completion", answer_completion}, {"textDocument/signatureHelp", answer_signature},
    {"textDocument/inlayHint", answer_hints},       {"textDocument/codeAction", answer_actions},
    {"textDocument/formatting", answer_format},
};

static void initialize(Server *s, const Json *message) {
    s->is_ready = true;
    send_result(message, "{\"capabilities\": {\"textDocumentSync\": 1, \"hoverProvider\": true, "
                         "\"definitionProvider\": true, \"completionProvider\": {\"triggerCharacters\": [\".\"]}, "
                         "\"signatureHelpProvider\": {\"triggerCharacters\": [\"(\", \",\"]}, "
                         "\"inlayHintProvider\": true, \"documentFormattingProvider\": true, "
                         "\"codeActionProvider\": {\"codeActionKinds\": [\"quickfix\"]}}, "
                         "\"serverInfo\": {\"name\": \"fsc\", \"version\": \"" FSC_VERSION "\"}}");
}

static void request(Server *s, const Json *message, const char *method) {
    const Json *params = json_at(message, "params");
    for (size_t i = 0; i < COUNT(answers); i++) {
        if (strcmp(method, answers[i].method) != 0) continue;
        Document *d = *find(s, json_text(params, "textDocument.uri"));
        Text out = {0};
        if (d) refresh(s, d), answers[i].answer(d, params, &out);
        if (d) send_result(message, out.at);
        else send_error(message, WRONG_PARAMS, "the file is not open");
        text_free(&out);
        return;
    }
    send_error(message, NO_METHOD, method);
}

static void notice(Server *s, const Json *message, const char *method) {
    const Json *params = json_at(message, "params");
    if (strcmp(method, "exit") == 0) s->is_over = true;
    else if (strcmp(method, "textDocument/didOpen") == 0) open_document(s, params);
    else if (strcmp(method, "textDocument/didChange") == 0) change_document(s, params);
    else if (strcmp(method, "textDocument/didClose") == 0) close_document(s, params);
}

static void dispatch(Server *s, const Json *message) {
    const char *method = json_text(message, "method");
    bool is_request = json_at(message, "id")->kind != JSON_NULL;
    if (!message) send_error(NULL, PARSE_ERROR, "the message is no JSON");
    else if (!*method) return; /* an answer: nothing was asked */
    else if (!is_request) notice(s, message, method);
    else if (strcmp(method, "initialize") == 0) initialize(s, message);
    else if (!s->is_ready) send_error(message, NOT_READY, "initialize comes first");
    else if (strcmp(method, "shutdown") == 0) s->is_shut = true, send_result(message, "null");
    else request(s, message, method);
}

ExitCode command_lsp(ToolOptions *o) {
    Server s = {.options = &o->compile};
    if (o->words.len) {
        fprintf(stderr, "fsc lsp: it takes no file: an editor starts it, and names its files\n");
        return EXIT_CALL;
    }
    while (!s.is_over) {
        size_t body = 0, n = whole_message(&s, &body);
        if (n) {
            Arena *a = arena_create();
            dispatch(&s, json_read(a, s.input.at + n - body, body));
            arena_destroy(a);
            memmove(s.input.at, s.input.at + n, s.input.len - n + 1);
            s.input.len -= n;
        } else if (!read_more(&s)) {
            break;
        }
        for (Document *d = s.documents; d && !is_waiting(&s); d = d->next) refresh(&s, d);
    }
    while (s.documents) {
        Document *d = s.documents;
        s.documents = d->next;
        document_free(d);
    }
    text_free(&s.input);
    return s.is_shut ? EXIT_DONE : EXIT_INPUT;
}
