/* Measuring compiled networks where there is no Lathe; see measure.c. */
#ifndef LATHE_RUNTIME_MEASURE_H
#define LATHE_RUNTIME_MEASURE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Measures all jobs of a folder that have no result yet, for so many seconds each; 0: as long as is
   usual. None begins after so many seconds in all; 0: there is no limit. Returns 0, or 1 if that
   was not possible at all. */
int lathe_measure_jobs(const char* folder, double seconds, double total);

/* What main() is in the program. */
int lathe_measure_main(int count, char** arguments);

#ifdef __cplusplus
}
#endif
#endif
