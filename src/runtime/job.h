/* Networks in a file of jobs, and what they must compute.

   A file of jobs is made where there is a compiler and read where there is only libc and a driver.
   It begins with the line "lathe jobs 2"; then come records, a line for each thing, with numbers as
   text. After lines of the kinds "expect", "bytes" and "module" come as many bytes as their last
   number says, and a newline.

     expect KEY OUTPUT BYTES                     sums over an output (lathe_sums), as floats
     job NAME MACHINE FAR                        "cuda" or "opencl"; bytes of the weights of the
                                                 network that a unit is from; 0 of a network
     must KEY                                    the outputs have these sums
     memory ARENA PREPARED WEIGHTS               in bytes
     input ELEMENT COUNT SEED                    made up
     output ELEMENT COUNT
     numbers ELEMENT OFFSET COUNT SEED           weights that are made up
     packed ELEMENT OFFSET COUNT SEED REPACKING  the same, in another order
     bytes OFFSET BYTES                          weights as they are
     step KERNEL BLOCKS THREADS N PLACES         three numbers, three numbers, three for each of N
     first N                                     so many steps run once
     module BYTES                                kernels
     end

   A repacking is  RANK EXTENTS SOURCE TARGET PIECES (CONSTRAINTS (EQUAL AFFINE)...)...  and an
   affine function is  CONSTANT DIVISOR RANK COEFFICIENTS FLOORS (COEFFICIENT AFFINE)...  as in
   poly/affine.h. What is made up has types that numbers.h knows; inputs of other types are 0, and
   outputs of other types are not compared. */
#ifndef LATHE_RUNTIME_JOB_H
#define LATHE_RUNTIME_JOB_H

#include <stddef.h>

#include "runtime/gpu.h"
#include "runtime/numbers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements that a sum is over, and what made-up inputs and weights are below. */
enum { LATHE_SUM_OF = 64 };
#define LATHE_MOST_MADE_UP 1.0f

/* Sums over an output, LATHE_SUM_OF elements each, the last perhaps fewer: each element counts by
   another factor. One element that is wrong makes a sum wrong. Returns how many sums there are. */
int64_t lathe_sums(enum lathe_numbers type, const void* elements, int64_t count, float* sums);

/* The greatest difference of sums, as a part of their root mean square; -1 if there was nothing to
   compare. Sums that must not be a number are left out. */
double lathe_compare_sums(const float* is, const float* must, int64_t count);

/* A file in memory. */
struct lathe_job_file {
  char* text;
  size_t bytes;
};

/* Reads a file. Returns 0, or -1 with an error. */
int lathe_job_file_read(const char* path, struct lathe_job_file* file);
void lathe_job_file_free(struct lathe_job_file* file);

/* Returns where the next job begins, from "at" on; the number of bytes if there is none, or if the
   file ends within it. Copies its name. */
size_t lathe_job_next(const struct lathe_job_file* file, size_t at, char* name, size_t size);

/* Measures the job that begins at "at". */
struct lathe_job_times {
  double least, median; /* seconds of one run */
  double off;           /* of lathe_compare_sums, the greatest of all outputs; -1: not compared */
  double first;         /* seconds until the first run was over */
  char why[320];        /* why there is none of that */
};

/* The device that jobs run on, opened when the first one does. */
struct lathe_job_device {
  const struct lathe_machine* machine;
  void* gpu;
  int jobs; /* that used it */
};

/* Returns the machine of the job, null if this program has none such. */
const struct lathe_machine* lathe_job_machine(const struct lathe_job_file* file, size_t at);

/* Is the job a whole network, not a unit of work? */
int lathe_job_is_network(const struct lathe_job_file* file, size_t at);

/* Measures for so many seconds. Returns 0, or -1 and why not. */
int lathe_job_measure(const struct lathe_job_file* file, size_t at, struct lathe_job_device* device,
                      double seconds, struct lathe_job_times* times);

#ifdef __cplusplus
}
#endif
#endif
