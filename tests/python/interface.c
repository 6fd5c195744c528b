/* lathe.h from plain C: calls, errors, listeners, and a network that runs. */
#include <lathe.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int events = 0;

static void tell(void* self, const char* event) {
  if (strstr(event, "\"event\"")) ++*(int*)self;
}

static int stop_at_once(void* self) {
  (void)self;
  return 1;
}

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s; the last error: %s\n", what, lathe_error());
  exit(1);
}

static void call_by_name(void) {
  char* result = NULL;
  const char* options = "{\"nest\": \"matmul(i=8, j=8, k=8)\", \"recipe\": \"split(i, 4)\"}";
  expect(lathe_call("apply", options, NULL, &result) == LATHE_DONE, "apply fails");
  expect(strstr(result, "\"accepted\":true") != NULL, "the split is refused");
  lathe_free(result);
  expect(strstr(lathe_calls(), "optimize") != NULL, "there is no optimize");
}

static void say_what_is_wrong(void) {
  char* result = NULL;
  expect(lathe_call("no such", "{}", NULL, &result) == LATHE_WRONG && !result, "a call too many");
  expect(strstr(lathe_error(), "there is no call 'no such'") != NULL, "the message is another one");
  expect(lathe_call("describe", "{\"network\": \"resnet18\", \"bach\": 2}", NULL, &result) ==
             LATHE_WRONG, "an unknown option is taken");
  expect(strstr(lathe_error(), "there is no option 'bach'") != NULL, "the message is another one");
  expect(lathe_call("describe", "nonsense", NULL, &result) == LATHE_WRONG, "no JSON is taken");
  expect(lathe_runner_open("{\"network\": \"resnet999\"}", NULL) == NULL, "no network is opened");
}

static void listen_and_stop(void) {
  const char* options =
      "{\"network\": \"nasbench201:6111\", \"metrics\": \"params\", \"samples\": 4, \"seeds\": 2}";
  struct lathe_listener listener = {tell, NULL, &events};
  expect(lathe_call("score", options, &listener, NULL) == LATHE_DONE, "score fails");
  expect(events == 2, "there are not two events");
  struct lathe_listener stopping = {NULL, stop_at_once, NULL};
  expect(lathe_call("score", options, &stopping, NULL) == LATHE_STOPPED, "it does not stop");
}

static void run_a_network(void) {
  struct lathe_runner* runner =
      lathe_runner_open("{\"network\": \"nasbench201:6111\", \"samples\": 2}", NULL);
  expect(runner != NULL, "the network cannot be opened");
  expect(strstr(lathe_runner_about(runner), "[2,3,32,32]") != NULL, "it has another shape");
  static float image[2 * 3 * 32 * 32], scores[2 * 10];
  const void* inputs[] = {image};
  void* outputs[] = {scores};
  for (size_t i = 0; i < sizeof image / sizeof *image; ++i) image[i] = (float)(i % 7) - 3;
  expect(lathe_runner_run(runner, inputs, outputs) == LATHE_DONE, "it does not run");
  expect(isfinite(scores[0]) && scores[0] != 0, "the score is no number");
  lathe_runner_close(runner);
}

int main(void) {
  expect(strcmp(lathe_version(), "0.1.0") == 0, "it is another version");
  call_by_name();
  say_what_is_wrong();
  listen_and_stop();
  run_a_network();
  return 0;
}
