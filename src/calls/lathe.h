/* Lathe as a library, in plain C. Link with -llathe.

     char* result = NULL;
     if (lathe_call("score", "{\"network\": \"resnet20-cifar\"}", NULL, &result) == LATHE_DONE)
       puts(result);
     else
       fputs(lathe_error(), stderr);
     lathe_free(result);

   A call is a whole task: a search, a verdict, a library that is written. Its options are an object
   in JSON, and so is its result. The names of options are those of the command line, with "_" for
   "-". lathe_calls() lists all calls.

   All texts are UTF-8. All functions may be called from several threads. A search starts processes
   that measure, so no other thread should be busy while it runs. */
#ifndef LATHE_H
#define LATHE_H

#ifdef __cplusplus
extern "C" {
#endif

#define LATHE_API __attribute__((visibility("default")))

/* What became of a call: the same numbers as the exit status of the program lathe. */
enum lathe_status {
  LATHE_DONE = 0,
  LATHE_WRONG = 2,    /* wrong input, or something is missing: lathe_error() says what */
  LATHE_BUG = 3,      /* a bug in Lathe */
  LATHE_STOPPED = 130 /* the listener asked for it, before there was a result */
};

/* Returns Lathe's version: "0.1.0". */
LATHE_API const char* lathe_version(void);

/* Says what went wrong last in this thread; "" if nothing did. */
LATHE_API const char* lathe_error(void);

/* Who listens to a call. Both functions may be null. They are called one at a time, but may be
   called from any thread, with "self". */
struct lathe_listener {
  void (*tell)(void* self, const char* event); /* an object in JSON; "event" says which one it is */
  int (*stop)(void* self);                     /* Is the call to stop? It is asked now and then. */
  void* self;
};

/* Lists the calls, in JSON: [{"name": ..., "summary": ...}, ...]. */
LATHE_API const char* lathe_calls(void);

/* Calls by name. "result" is set to a text in JSON, which lathe_free() frees, or to null if there
   was none. "listener" may be null. */
LATHE_API enum lathe_status lathe_call(const char* name, const char* options,
                                       const struct lathe_listener* listener, char** result);
LATHE_API void lathe_free(char* text);

/* A network that is compiled and ready to run in this process. */
struct lathe_runner;

/* Compiles a network, or loads a folder that was compiled before. Returns null on failure. Options
   are those of a network, and "target", "threads", "samples": run so many at a time. */
LATHE_API struct lathe_runner* lathe_runner_open(const char* options,
                                                 const struct lathe_listener* listener);
LATHE_API void lathe_runner_close(struct lathe_runner* runner);

/* Says what goes in and out, in JSON: {"inputs": [{"name": "x", "element": "f32", "shape": [1, 3,
   32, 32]}], "outputs": [...]}. The text lives as long as the runner. */
LATHE_API const char* lathe_runner_about(const struct lathe_runner* runner);

/* Reads inputs[i], writes outputs[i], each dense and row-major. Several threads may call it: calls
   on one runner take turns. */
LATHE_API enum lathe_status lathe_runner_run(struct lathe_runner* runner, const void* const* inputs,
                                             void* const* outputs);

/* Runs the program lathe: argv[0] is its name. Returns the exit status. For a process of its own:
   it prints, and Ctrl-C ends it. */
LATHE_API int lathe_main(int argc, char** argv);

#ifdef __cplusplus
}
#endif
#endif
