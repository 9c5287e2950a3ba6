/* format.h: checks the string formats of JSON Schema 2020-12.
 *
 * Owns: the list of formats and a check for each. Refuses to know: schemas, values (a value that is
 * not a string is valid and is not passed here), and what a regular expression is (the caller
 * provides that check). Strings are UTF-8. Checks take linear time, do not recurse and do not
 * allocate. Exception: libidn2 uses malloc for internationalised host names; if that fails, the
 * name counts as not valid.
 *
 * date-time, date, time: RFC 3339; a leap second only where one is possible.
 * duration: the temporal profile's ISO 8601 grammar (temporal.h), of any size; or the grammar of
 *     RFC 3339 appendix A if the environment asks for it.
 * email, idn-email: RFC 5321 Mailbox, RFC 6531; quoted local parts, IPv4 and IPv6 literals.
 * hostname: RFC 1123, at most 253 bytes; labels that begin with "xn--" must be valid A-labels.
 * idn-hostname: RFC 5890 to 5893, IDNA2008 with its contextual and Bidi rules.
 * ipv4, ipv6: dotted quad without leading zeros; RFC 4291 without a zone.
 * uri, uri-reference: RFC 3986. iri, iri-reference: RFC 3987. uri-template: RFC 6570.
 * uuid: 8-4-4-4-12 hexadecimal digits, of any version.
 * json-pointer, relative-json-pointer: RFC 6901 and its relative draft, as strings.
 * regex: what env->regex_valid accepts. */
#ifndef MWL_FORMAT_H
#define MWL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

/* name of the constant, name in schemas, the check */
#define MWL__FORMAT_LIST(X)                                                                        \
    X(DATE_TIME, "date-time", check_date_time)                                                     \
    X(DATE, "date", check_date)                                                                    \
    X(TIME, "time", check_time)                                                                    \
    X(DURATION, "duration", check_duration)                                                        \
    X(EMAIL, "email", check_email)                                                                 \
    X(IDN_EMAIL, "idn-email", check_idn_email)                                                     \
    X(HOSTNAME, "hostname", check_hostname)                                                        \
    X(IDN_HOSTNAME, "idn-hostname", check_idn_hostname)                                            \
    X(IPV4, "ipv4", check_ipv4)                                                                    \
    X(IPV6, "ipv6", check_ipv6)                                                                    \
    X(URI, "uri", check_uri)                                                                       \
    X(URI_REFERENCE, "uri-reference", check_uri_reference)                                         \
    X(IRI, "iri", check_iri)                                                                       \
    X(IRI_REFERENCE, "iri-reference", check_iri_reference)                                         \
    X(URI_TEMPLATE, "uri-template", check_uri_template)                                            \
    X(UUID, "uuid", check_uuid)                                                                    \
    X(JSON_POINTER, "json-pointer", check_json_pointer)                                            \
    X(RELATIVE_JSON_POINTER, "relative-json-pointer", check_relative_json_pointer)                 \
    X(REGEX, "regex", check_regex)

enum {
#define MWL_X(id, name, check) MWL__FORMAT_##id,
    MWL__FORMAT_LIST(MWL_X)
#undef MWL_X
        MWL__N_FORMATS
};

/* What the checks need from their caller. All zero means the mode of the language, without
 * regex. */
typedef struct mwl__format_env {
    bool rfc3339_duration; /* "duration" is the narrow grammar that the JSON Schema test suite uses
                            */
    bool (*regex_valid)(void *ctx, const char *s, size_t len); /* NULL: every string passes */
    void *ctx;
} mwl__format_env;

/* Returns the format with that name, or -1. An unknown format accepts every string. */
int mwl__format_find(const char *name, size_t len);

/* Returns the name of a format, as in schemas. */
const char *mwl__format_name(int format);

/* Returns whether the string has the format. env may be NULL, which means all zero. */
bool mwl__format_check(int format, const char *s, size_t len, const mwl__format_env *env);

/* ---- between the files of this subject ------------------------------------------------------- */

/* format_uri.c. With `unicode`, the character sets of IRIs or RFC 6570; with `reference`, relative
 * ones too. */
bool mwl__format_uri(const char *s, size_t len, bool unicode, bool reference);
bool mwl__format_uri_template(const char *s, size_t len);

/* format_host.c */
bool mwl__format_ipv4(const char *s, size_t len);
bool mwl__format_ipv6(const char *s, size_t len);
bool mwl__format_hostname(const char *s, size_t len);
bool mwl__format_email(const char *s, size_t len, bool unicode);

/* format_idn.c: a complete host name of A-labels, U-labels and plain labels. With `ascii_host`, the
 * caller has checked that it is a plain host name, and only its "xn--" labels and the Bidi rule are
 * checked. */
bool mwl__format_idn_host(const char *s, size_t len, bool ascii_host);

#endif
