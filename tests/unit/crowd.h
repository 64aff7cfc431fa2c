/*
 * crowd.h - a host that floods, and clients with many tunnels to it through a gate: processes of their own, so that whoever
 * includes this can dispatch the proxy between them.
 */
#ifndef CROWD_H
#define CROWD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Listens on loopback. */
int crowd_listen(uint16_t *ret_port);

/* Accepts whoever comes and writes to all of them without end. */
pid_t crowd_host(int listen_fd);

/*
 * So many tunnels through the gate to the host; reads all that comes in them, or nothing. If it reads, a byte is written to
 * all_fd once something of the host has come through each of them; -1: nobody wants to know.
 */
pid_t crowd_clients(uint16_t gate_port, uint16_t host_port, unsigned count, bool reads, int all_fd);

void crowd_end(pid_t pid);

#endif
