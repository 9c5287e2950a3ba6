/* format.h: the string formats of JSON Schema 2020-12, asserted.
 *
 * Owns: one list of the formats and one check for each. Refuses to know: schemas, values (what is
 * not a string is valid and never comes here), and what a regular expression is (the caller says).
 * Strings are UTF-8; checks never allocate, except those of internationalised host names where
 * libidn2 does, with malloc (when that fails, the name is not valid); time is linear, no recursion.
 *
 * date-time, date, time: RFC 3339; a leap second only where one can be.
 * duration: the temporal profile's ISO 8601 grammar (temporal.h), of any size; or the grammar of
 *     RFC 3339 appendix A when the environment says so.
 * email, idn-email: RFC 5321 Mailbox, RFC 6531; quoted local parts, IPv4 and IPv6 literals.
 * hostname: RFC 1123, at most 253 bytes; labels that begin "xn--" must be true A-labels.
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
#include <stdint.h>

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

/* What the checks take from their caller. All zero is the language's own mode, without regex. */
typedef struct mwl__format_env {
    bool rfc3339_duration; /* "duration" is the narrow grammar that JSON Schema's suite follows */
    bool (*regex_valid)(void *ctx, const char *s, size_t len); /* NULL: every string passes */
    void *ctx;
} mwl__format_env;

/* The format of that name, or -1: an unknown format asserts nothing. */
int mwl__format_find(const char *name, size_t len);

/* The name of a format, as schemas write it. */
const char *mwl__format_name(int format);

/* Whether the string has the format. env may be NULL (all zero). */
bool mwl__format_check(int format, const char *s, size_t len, const mwl__format_env *env);

/* ---- between the files of this subject ------------------------------------------------------- */

/* format_uri.c. With `unicode`, the IRI or RFC 6570 sets; with `reference`, relative ones too. */
bool mwl__format_uri(const char *s, size_t len, bool unicode, bool reference);
bool mwl__format_uri_template(const char *s, size_t len);

/* format_host.c */
bool mwl__format_ipv4(const char *s, size_t len);
bool mwl__format_ipv6(const char *s, size_t len);
bool mwl__format_hostname(const char *s, size_t len);
bool mwl__format_email(const char *s, size_t len, bool unicode);

/* format_idn.c: a whole host name of A-labels, U-labels and plain ones. With `ascii_host`, the name
 * has already been found to be a plain host name, and only its "xn--" labels and Bidi are judged.
 */
bool mwl__format_idn_host(const char *s, size_t len, bool ascii_host);

#endif
