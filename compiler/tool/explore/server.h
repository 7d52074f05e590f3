/* server.h - a page served to browsers of this machine, and of nobody else.
 *
 * It listens on 127.0.0.1 alone. A request must name this machine in Host, so that no name of somebody's own leads a
 * browser here, and know the path, which holds a secret of this process: other users of the machine do not.
 */
#ifndef FSC_EXPLORE_SERVER_H
#define FSC_EXPLORE_SERVER_H

#include "base/base.h"

#include <poll.h>

enum { SERVER_CLIENTS = 32, SECRET_HEX = 32, REQUEST_BYTES = 8192 };

typedef struct Client {
    int fd; /* -1: none */
    char request[REQUEST_BYTES + 1];
    size_t got, sent;
    Text answer;
    bool is_answered, is_listening; /* the answer is whole; it is told of events, and goes on */
    double since;                   /* when it came */
} Client;

typedef struct Server {
    int fd;
    uint16_t port;
    char secret[SECRET_HEX + 1];
    Client clients[SERVER_CLIENTS];
    const Text *page;
    uint32_t version; /* of the page */
} Server;

/* port 0: any that is free. False after printing why not. */
bool server_open(Server *s, uint16_t port);
/* Sends what still fits, ends all. */
void server_close(Server *s);
/* What to wait for: one for each client and one for those that come. Gives how many. */
size_t server_wants(const Server *s, struct pollfd *wants);
/* After a poll of these. */
void server_turn(Server *s, const struct pollfd *wants);
/* "event: NAME\ndata: NUMBER" to all who listen; NULL: a message without a name. */
void server_tell(Server *s, const char *name, uint32_t number);

#endif
