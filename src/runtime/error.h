/* How the runtime says what went wrong; lathe_last_error() reads it. */
#ifndef LATHE_RUNTIME_ERROR_H
#define LATHE_RUNTIME_ERROR_H

/* Sets the text of this thread, formatted as by printf. Returns -1. */
__attribute__((format(printf, 1, 2))) int lathe_fail(const char* format, ...);

#endif
