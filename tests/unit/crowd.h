/*
 * crowd.h - a host that floods, and clients with many tunnels to it through a gate. They are
 * separate processes, so that the test can dispatch the proxy between them.
 */
#ifndef CROWD_H
#define CROWD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Listens on loopback. */
int crowd_listen(uint16_t *ret_port);

/* Accepts every client and writes to all of them without end. */
pid_t crowd_host(int listen_fd);

/*
 * Opens count tunnels through the gate to the host, and reads all that comes in them, or nothing.
 * If it reads, a byte is written to all_fd when bytes of the host have come through each of them;
 * -1: no report.
 */
pid_t crowd_clients(uint16_t gate_port, uint16_t host_port, unsigned count, bool reads, int all_fd);

void crowd_end(pid_t pid);

#endif
