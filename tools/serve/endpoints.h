/* endpoints.h: every endpoint: method, path, scope, the longest body, what it does.
 * W: at the first desk, which is quick and keeps the order; A: at the desk of answers, which checks
 * them; R: at the desk of readers, which may take long; N: on the loop's thread. */
#ifndef MWL_TOOLS_SERVE_ENDPOINTS_H
#define MWL_TOOLS_SERVE_ENDPOINTS_H

#define ENDPOINTS(W, A, R, N)                                                                      \
    N("GET", "", NONE, 0, api_page)                                                                \
    N("GET", "healthz", NONE, 0, api_health)                                                       \
    N("GET", "readyz", NONE, 0, api_ready)                                                         \
    R("GET", "metrics", READ, 0, api_metrics)                                                      \
    R("GET", "v1/programs", READ, 0, api_programs)                                                 \
    R("GET", "v1/programs/?", READ, 0, api_program)                                                \
    R("PUT", "v1/programs/?", ADMIN, SERVE_BODY, api_program_put)                                  \
    R("GET", "v1/programs/?/graph", READ, 0, api_program_graph)                                    \
    R("GET", "v1/runs", READ, 0, api_runs)                                                         \
    W("POST", "v1/runs", START, SERVE_BODY, api_start)                                             \
    R("GET", "v1/runs/?", READ, 0, api_run)                                                        \
    W("GET", "v1/runs/?/result", READ, 0, api_result)                                              \
    R("GET", "v1/runs/?/graph", READ, 0, api_run_graph)                                            \
    R("GET", "v1/runs/?/snapshot", ADMIN, 0, api_snapshot)                                         \
    A("POST", "v1/runs/?/answers/?", ANSWER, SERVE_BODY, api_answer)                               \
    A("POST", "v1/runs/?/waits/?/link", ANSWER, SERVE_BODY, api_link)                              \
    W("POST", "v1/runs/?/cancel", START, SERVE_BODY, api_cancel)                                   \
    W("POST", "v1/runs/?/resume", START, SERVE_BODY, api_resume)                                   \
    W("GET", "v1/runs/?/events", READ, 0, api_run_events)                                          \
    W("GET", "v1/events", READ, 0, api_events)                                                     \
    R("GET", "v1/waits", READ, 0, api_waits)                                                       \
    W("GET", "v1/calls", WORK, 0, api_call_take)                                                   \
    W("POST", "v1/calls/?/result", WORK, SERVE_BODY, api_call_settle)                              \
    W("POST", "v1/calls/?/lease", WORK, SERVE_BODY, api_call_renew)                                \
    R("GET", "a/?/?/?/?", NONE, 0, api_link_show)                                                  \
    A("POST", "a/?/?/?/?", LINK, SERVE_LINK_BODY, api_link_answer)

struct ask;
struct desk_tools;
#define W(method, path, scope, most, name) void name(struct ask *a, struct desk_tools *t);
#define N(method, path, scope, most, name) void name(struct ask *a);
ENDPOINTS(W, W, W, N)
#undef W
#undef N

#endif
