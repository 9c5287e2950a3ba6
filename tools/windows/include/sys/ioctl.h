/* sys/ioctl.h: the size of a console; see tools/windows/streams.c. */
#ifndef MWL_TOOLS_WINDOWS_IOCTL_H
#define MWL_TOOLS_WINDOWS_IOCTL_H

#define TIOCGWINSZ 0x5413
struct winsize {
    unsigned short ws_row, ws_col;
};
int ioctl(int fd, int request, struct winsize *out);

#endif
