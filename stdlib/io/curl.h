/* curl.h: libcurl's functions, which are loaded when the first http call is made. */
#ifndef MWL_IO_CURL_H
#define MWL_IO_CURL_H

#include <curl/curl.h>

#define MWL__CURL_FUNCTIONS(X)                                                                     \
    X(global_init)                                                                                 \
    X(multi_init)                                                                                  \
    X(multi_cleanup)                                                                               \
    X(multi_setopt)                                                                                \
    X(multi_add_handle)                                                                            \
    X(multi_remove_handle)                                                                         \
    X(multi_socket_action)                                                                         \
    X(multi_assign)                                                                                \
    X(multi_info_read)                                                                             \
    X(easy_init)                                                                                   \
    X(easy_cleanup)                                                                                \
    X(easy_reset)                                                                                  \
    X(easy_setopt)                                                                                 \
    X(easy_getinfo)                                                                                \
    X(easy_strerror)                                                                               \
    X(slist_append)                                                                                \
    X(slist_free_all)                                                                              \
    X(url)                                                                                         \
    X(url_cleanup)                                                                                 \
    X(url_set)                                                                                     \
    X(url_get)                                                                                     \
    X(getdate)                                                                                     \
    X(free)

/* curl_easy_init is mwl__curl.easy_init, and so on. The macros of curl.h that check the arguments
 * of some of them do not apply. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
typedef struct mwl__curl_table {
#define MWL_X(name) __typeof__(&curl_##name) name;
    MWL__CURL_FUNCTIONS(MWL_X)
#undef MWL_X
} mwl__curl_table;
extern mwl__curl_table mwl__curl;

/* Loads libcurl, once. Returns NULL, or why that is not possible. VM's thread. */
const char *mwl__curl_load(void);

#endif
