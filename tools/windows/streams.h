/* streams.h: what start.c needs of streams.c. */
#ifndef MWL_TOOLS_WINDOWS_STREAMS_H
#define MWL_TOOLS_WINDOWS_STREAMS_H

/* Makes the standard streams binary, so that a line feed stays one; a console reads and shows UTF-8
 * and obeys escape sequences until the process ends. */
void streams_open(void);

#endif
