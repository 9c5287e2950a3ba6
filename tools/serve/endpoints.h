/* endpoints.h: every endpoint: method, path, its parameters in the query (=VALUE: the only value;
 * NULL: any, they are for others), scope, the longest body, what it does.
 * W: at the first desk, which is quick and keeps the order; A: at the desk of answers, which checks
 * them; R: at the desk of readers, which may take long; N: on the loop's thread. */
#ifndef MWL_TOOLS_SERVE_ENDPOINTS_H
#define MWL_TOOLS_SERVE_ENDPOINTS_H

#define ENDPOINTS(W, A, R, N)                                                                      \
    N("GET", "", NULL, NONE, 0, api_page)                                                          \
    N("GET", "healthz", NULL, NONE, 0, api_health)                                                 \
    N("GET", "readyz", NULL, NONE, 0, api_ready)                                                   \
    R("GET", "metrics", NULL, READ, 0, api_metrics)                                                \
    R("GET", "v1/programs", "", READ, 0, api_programs)                                             \
    R("GET", "v1/programs/?", "", READ, 0, api_program)                                            \
    R("PUT", "v1/programs/?", "", ADMIN, SERVE_BODY, api_program_put)                              \
    R("GET", "v1/programs/?/graph", "", READ, 0, api_program_graph)                                \
    R("GET", "v1/runs", "state program order=newest after limit results=1", READ, 0, api_runs)     \
    W("POST", "v1/runs", "wait", START, SERVE_BODY, api_start)                                     \
    R("GET", "v1/runs/?", "full=1", READ, 0, api_run)                                              \
    W("GET", "v1/runs/?/result", "wait", READ, 0, api_result)                                      \
    R("GET", "v1/runs/?/graph", "", READ, 0, api_run_graph)                                        \
    R("GET", "v1/runs/?/snapshot", "full=1", ADMIN, 0, api_snapshot)                               \
    A("POST", "v1/runs/?/answers/?", "", ANSWER, SERVE_BODY, api_answer)                           \
    A("POST", "v1/runs/?/waits/?/link", "valid", ANSWER, SERVE_BODY, api_link)                     \
    W("POST", "v1/runs/?/cancel", "", START, SERVE_BODY, api_cancel)                               \
    W("POST", "v1/runs/?/resume", "", START, SERVE_BODY, api_resume)                               \
    W("GET", "v1/runs/?/events", "after", READ, 0, api_run_events)                                 \
    W("GET", "v1/events", "after", READ, 0, api_events)                                            \
    R("GET", "v1/waits", "after limit", READ, 0, api_waits)                                        \
    W("GET", "v1/calls", "provider wait lease", WORK, 0, api_call_take)                            \
    W("POST", "v1/calls/?/result", "attempt", WORK, SERVE_BODY, api_call_settle)                   \
    W("POST", "v1/calls/?/lease", "attempt lease", WORK, SERVE_BODY, api_call_renew)               \
    R("GET", "a/?/?/?/?", NULL, NONE, 0, api_link_show)                                            \
    A("POST", "a/?/?/?/?", NULL, LINK, SERVE_LINK_BODY, api_link_answer)

struct ask;
struct desk_tools;
#define W(method, path, query, scope, most, name) void name(struct ask *a, struct desk_tools *t);
#define N(method, path, query, scope, most, name) void name(struct ask *a);
ENDPOINTS(W, W, W, N)
#undef W
#undef N

#endif
