/* poll.h: for descriptors of pipes, files and consoles; see tools/windows/waits.c. */
#ifndef MWL_TOOLS_WINDOWS_POLL_H
#define MWL_TOOLS_WINDOWS_POLL_H

#include <winsock2.h> /* has a poll of its own, for sockets alone */

#undef POLLIN
#undef POLLOUT
#undef POLLHUP
#define POLLIN 1
#define POLLOUT 4
#define POLLHUP 16

struct windows_pollfd {
    int fd;
    short events, revents;
};
int windows_poll(struct windows_pollfd *fds, unsigned n, int timeout_ms);

#define pollfd windows_pollfd
#define poll windows_poll

#endif
