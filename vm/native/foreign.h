/* foreign.h: functions that must not be given another stack.
 *
 * A language with its own stacks (Go) or its own record of the thread's stack (Python) crashes if C
 * calls it on a stack that it does not know. A closure that such a language makes at run time lies
 * in memory that belongs to no object file; a function that Go exports lies in the object that has
 * Go's entry. Only Linux is known well enough; elsewhere nothing is found. */
#ifndef MWL_FOREIGN_H
#define MWL_FOREIGN_H

/* Returns why a function is not one of C or C++, constant; NULL if nothing is known against it. */
const char *mwl__foreign_why(void (*fn)(void));

#endif
