/* floor.c: the work of wf (a) to (g) and expr (e1) to (e6) as a C programmer would write it by
 * hand: no definition, no interpreter, no middleware, no metadata, no limits. What an engine cannot
 * be faster than.
 *
 * A value is 16 bytes, an object a short array of members whose keys are compared by address, and
 * everything that a run makes lies in its arena, which starts over with the next run. */
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum kind { NIL, TRUTH, NUMBER, TEXT, LIST, RECORD };

typedef struct value {
    uint64_t head; /* kind, and above it the length of a text */
    union {
        uint64_t word;
        double number;
        const char *text;
        struct list *list;
        struct record *record;
    } as;
} value;

struct list {
    size_t n;
    value at[];
};

struct member {
    const char *key;
    value value;
};

struct record {
    size_t n;
    struct member at[];
};

/* Two runs of one key must be one address. */
static const char kn[] = "n", ks[] = "s", kinput[] = "input", kuser[] = "user",
                  kaddress[] = "address", kcity[] = "city", kstreet[] = "street", kname[] = "name",
                  ka[] = "a", kb[] = "b", kid[] = "id", kcollection[] = "collection",
                  kitems[] = "items", kv[] = "v", kopt[] = "opt", ktags[] = "tags",
                  knested[] = "nested", kok[] = "ok", ktype[] = "type", kcode[] = "code";

static inline value number(double d) { return (value){NUMBER, {.number = d}}; }
static value truth(bool b) { return (value){TRUTH, {.word = b}}; }
static value text(const char *s, size_t len) {
    return (value){TEXT | (uint64_t)len << 32, {.text = s}};
}
static enum kind kind_of(const value *v) { return (enum kind)(uint32_t)v->head; }
static size_t length(const value *v) { return v->head >> 32; }
#define WORD(s) text(s, sizeof(s) - 1)

/* Word by word: a 16-byte load of what was just stored as two words would wait for both stores to
 * leave. */
static inline void put(value *to, value v) {
    to->head = v.head;
    to->as.word = v.as.word;
}

static inline void put_member(struct member *to, const char *key, value v) {
    to->key = key;
    put(&to->value, v);
}

static const value *find(const value *v, const char *key) {
    if (kind_of(v) != RECORD) return NULL;
    const struct record *r = v->as.record;
    for (size_t i = 0; i < r->n; i++)
        if (r->at[i].key == key) return &r->at[i].value;
    return NULL;
}

static _Noreturn void wrong(const char *what) {
    fprintf(stderr, "floor: %s\n", what);
    exit(1);
}

/* What a checked language must do: a member that is not there, or of another kind, is an error. */
static const value *need(const value *v, const char *key) {
    const value *found = find(v, key);
    if (!found) wrong("no such member");
    return found;
}

static double need_number(const value *v) {
    if (kind_of(v) != NUMBER) wrong("not a number");
    return v->as.number;
}

/* ---- runs ------------------------------------------------------------------------------------ */

enum { ARENA = 64 * 1024, IN_FLIGHT = 5000, SMALL_ARENA = 1024 };

struct run {
    struct run *next;
    uint64_t id;
    value at; /* the value between Steps */
    unsigned step, failures;
    const char *code; /* of a failure, or NULL */
    size_t used, size;
    char *arena;
};

static struct run *idle;
static uint64_t started;

static struct run *run_begin(value first) {
    struct run *r = idle;
    if (r) {
        idle = r->next;
    } else {
        r = calloc(1, sizeof *r);
        r->size = SMALL_ARENA;
        r->arena = malloc(SMALL_ARENA);
    }
    r->id = ++started;
    put(&r->at, first);
    r->step = r->failures = 0;
    r->code = NULL;
    r->used = 0;
    return r;
}

static void run_end(struct run *r) {
    r->next = idle;
    idle = r;
}

static void *take(struct run *r, size_t size) {
    size = (size + 7) & ~(size_t)7;
    if (r->size - r->used < size) wrong("arena");
    r->used += size;
    return r->arena + r->used - size;
}

static struct record *new_record(struct run *r, size_t n) {
    struct record *made = take(r, sizeof *made + n * sizeof made->at[0]);
    made->n = n;
    return made;
}

static struct list *new_list(struct run *r, size_t room) {
    struct list *made = take(r, sizeof *made + room * sizeof made->at[0]);
    made->n = 0;
    return made;
}

static value record_value(struct record *r) { return (value){RECORD, {.record = r}}; }
static value list_value(struct list *l) { return (value){LIST, {.list = l}}; }

static value input, thousand;
static struct run *large; /* with an arena for what one run of (e) or an expression makes */

#define KEEP(x) __asm__ volatile("" : : "g"(x) : "memory")

/* A provider is called through a pointer that the compiler cannot see through. */
typedef value (*provider)(struct run *r, value in);

static value noop(struct run *r, value in) {
    (void)r;
    return in;
}

static value flaky(struct run *r, value in) {
    r->code = r->failures++ < 2 ? "Provider.Call.Flaky" : NULL;
    return in;
}

static provider volatile the_noop = noop, the_flaky = flaky;

static void a_min(long n) {
    while (n-- > 0) {
        struct run *r = run_begin(input);
        r->step = 1;
        KEEP(r->at.as.record);
        run_end(r);
    }
}

static __attribute__((noinline)) void add_one(struct run *r) {
    struct record *made = new_record(r, 2);
    put_member(&made->at[0], kn, number(need_number(need(&r->at, kn)) + 1.0));
    put_member(&made->at[1], ks, *need(&r->at, ks));
    put(&r->at, record_value(made));
    r->step++;
}

static void b_chain10(long n) {
    while (n-- > 0) {
        struct run *r = run_begin(input);
        for (int i = 0; i < 10; i++) add_one(r);
        if (need(&r->at, kn)->as.number != 11) wrong("b_chain10");
        run_end(r);
    }
}

static void c_retry(long n) {
    while (n-- > 0) {
        struct run *r = run_begin(input);
        provider call = the_flaky;
        int attempt = 0;
        do {
            put(&r->at, call(r, input));
            attempt++;
        } while (r->code && attempt < 3 && strncmp(r->code, "Provider.Call.", 14) == 0);
        if (r->code || attempt != 3) wrong("c_retry");
        run_end(r);
    }
}

static void d_loop1000(long n) {
    while (n-- > 0) {
        struct run *r = run_begin(input);
        provider call = the_noop;
        double iteration = 0;
        do {
            put(&r->at, call(r, r->at));
            if (r->code) wrong("d_loop1000");
            iteration += 1;
        } while (iteration < 1000);
        run_end(r);
    }
}

static void e_fan1000(long n) {
    while (n-- > 0) {
        struct run *r = large;
        provider call = the_noop;
        const struct list *in = thousand.as.list;
        r->used = 0;
        struct list *out = new_list(r, in->n);
        for (size_t i = 0; i < in->n; i++) {
            value v = call(r, in->at[i]);
            if (!r->code) put(&out->at[out->n++], v);
        }
        if (out->n != 1000) wrong("e_fan1000");
        KEEP(out);
    }
}

/* ---- timers: a binary heap on a clock that is only a number ---------------------------------- */

struct timer {
    uint64_t due;
    void *who;
};
static struct timer *timers;
static size_t n_timers, room_timers;

static void timer_push(uint64_t due, void *who) {
    if (n_timers == room_timers) {
        room_timers = room_timers ? 2 * room_timers : 1024;
        timers = realloc(timers, room_timers * sizeof *timers);
    }
    size_t i = n_timers++;
    for (; i > 0 && timers[(i - 1) / 2].due > due; i = (i - 1) / 2) timers[i] = timers[(i - 1) / 2];
    timers[i] = (struct timer){due, who};
}

static void *timer_pop(void) {
    void *first = timers[0].who;
    struct timer last = timers[--n_timers];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < n_timers) {
        if (child + 1 < n_timers && timers[child + 1].due < timers[child].due) child++;
        if (timers[child].due >= last.due) break;
        timers[i] = timers[child];
        i = child;
    }
    timers[i] = last;
    return first;
}

static void f_timeout(long n) {
    while (n > 0) {
        long k = n < IN_FLIGHT ? n : IN_FLIGHT;
        n -= k;
        for (long i = 0; i < k; i++)
            timer_push(1000000, run_begin(input)); /* as many as start in one instant */
        for (long i = 0; i < k; i++) {
            struct run *r = timer_pop();
            struct record *failure = new_record(r, 2);
            put_member(&failure->at[0], ktype, WORD("timeout"));
            put_member(&failure->at[1], kcode, WORD("Provider.Middleware.Timeout.Exceeded"));
            put(&r->at, record_value(failure));
            KEEP(failure);
            run_end(r);
        }
    }
}

/* ---- expressions, on step.input -------------------------------------------------------------- */

static value step;

static value make_step(void) {
    static struct {
        size_t n;
        struct member at[2];
    } address, user, item[100];
    static struct {
        size_t n;
        struct member at[6];
    } in;
    static struct {
        size_t n;
        struct member at[1];
    } outer;
    static struct {
        size_t n;
        value at[100];
    } items;
    address.n = user.n = 2;
    address.at[0] = (struct member){kstreet, WORD("main")};
    address.at[1] = (struct member){kcity, WORD("oslo")};
    user.at[0] = (struct member){kname, WORD("ada")};
    user.at[1] = (struct member){kaddress, record_value((struct record *)&address)};
    items.n = 100;
    for (int i = 0; i < 100; i++) {
        item[i].n = 2;
        item[i].at[0] = (struct member){kid, WORD("i")};
        item[i].at[1] = (struct member){kv, number(i * 37 % 100)};
        items.at[i] = record_value((struct record *)&item[i]);
    }
    in.n = 6;
    in.at[0] = (struct member){kid, WORD("granule-0001")};
    in.at[1] = (struct member){kcollection, WORD("modis-l1")};
    in.at[2] = (struct member){ka, number(7)};
    in.at[3] = (struct member){kb, number(20)};
    in.at[4] = (struct member){kuser, record_value((struct record *)&user)};
    in.at[5] = (struct member){kitems, list_value((struct list *)&items)};
    outer.n = 1;
    outer.at[0] = (struct member){kinput, record_value((struct record *)&in)};
    return record_value((struct record *)&outer);
}

static value e1_select(struct run *r, const value *s) {
    (void)r;
    return *need(need(need(need(s, kinput), kuser), kaddress), kcity);
}

static value e2_arith(struct run *r, const value *s) {
    (void)r;
    const value *in = need(s, kinput);
    bool answer = need_number(need(in, ka)) * 2.0 + need_number(need(in, kb)) > 10.0 &&
                  need_number(need(in, kb)) <= 100.0;
    return truth(answer);
}

static value e3_concat(struct run *r, const value *s) {
    const value *in = need(s, kinput);
    const value parts[] = {WORD("/granules/"), *need(in, kcollection), WORD("/"), *need(in, kid)};
    size_t len = 0, at = 0;
    for (int i = 0; i < 4; i++) len += length(&parts[i]);
    char *made = take(r, len + 1);
    for (int i = 0; i < 4; i++) {
        memcpy(made + at, parts[i].as.text, length(&parts[i]));
        at += length(&parts[i]);
    }
    made[len] = '\0';
    return text(made, len);
}

static value e4_has(struct run *r, const value *s) {
    (void)r;
    const value *found = find(need(s, kinput), kopt);
    return found ? *found : WORD("default");
}

static value e5_list100(struct run *r, const value *s) {
    const struct list *in = need(need(s, kinput), kitems)->as.list;
    struct list *kept = new_list(r, in->n), *made;
    for (size_t i = 0; i < in->n; i++)
        if (need_number(need(&in->at[i], kv)) > 50.0) put(&kept->at[kept->n++], in->at[i]);
    made = new_list(r, kept->n);
    for (size_t i = 0; i < kept->n; i++)
        put(&made->at[made->n++], number(need_number(need(&kept->at[i], kv)) * 2.0));
    return list_value(made);
}

static value e6_map(struct run *r, const value *s) {
    const value *in = need(s, kinput);
    struct record *made = new_record(r, 4), *nested = new_record(r, 1);
    struct list *tags = new_list(r, 2);
    tags->n = 2;
    put(&tags->at[0], WORD("x"));
    put(&tags->at[1], *need(in, kcollection));
    put_member(&nested->at[0], kok, truth(true));
    put_member(&made->at[0], kid, *need(in, kid));
    put_member(&made->at[1], kn, number(need_number(need(in, ka)) + 1.0));
    put_member(&made->at[2], ktags, list_value(tags));
    put_member(&made->at[3], knested, record_value(nested));
    return record_value(made);
}

static const struct expression {
    const char *name;
    value (*make)(struct run *r, const value *s);
} expressions[] = {{"e1_select", e1_select}, {"e2_arith", e2_arith},     {"e3_concat", e3_concat},
                   {"e4_has", e4_has},       {"e5_list100", e5_list100}, {"e6_map", e6_map}};
static const struct expression *volatile the_expression;

static void evaluate(long n) {
    const struct expression *e = the_expression;
    while (n-- > 0) {
        large->used = 0;
        value v = e->make(large, &step);
        KEEP(v.as.record);
    }
}

static void check_expressions(void) {
    large->used = 0;
    if (strcmp(e1_select(large, &step).as.text, "oslo") != 0 || !e2_arith(large, &step).as.word ||
        strcmp(e3_concat(large, &step).as.text, "/granules/modis-l1/granule-0001") != 0 ||
        strcmp(e4_has(large, &step).as.text, "default") != 0 ||
        e5_list100(large, &step).as.list->n != 49)
        wrong("an expression");
    value made = e6_map(large, &step);
    if (need(&made, kn)->as.number != 8) wrong("e6_map");
}

/* ---- measuring: processor time, as the table compares ---------------------------------------- */

enum { SAMPLES = 7 };

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* on a busy machine wall time is mostly others' */
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *suite, const char *name, void (*work)(long)) {
    double samples[SAMPLES], start;
    long n = 1;
    for (;; n *= 2) {
        start = now_ns();
        work(n);
        if (now_ns() - start > 45e6) break;
    }
    for (int i = 0; i < SAMPLES; i++) {
        start = now_ns();
        work(n);
        samples[i] = (now_ns() - start) / (double)n;
    }
    qsort(samples, SAMPLES, sizeof *samples, by_value);
    printf("{\"suite\":\"%s\",\"peer\":\"C by "
           "hand\",\"case\":\"%s\",\"unit\":\"ns/op\",\"median\":%.3f,\"min\":%.3f,"
           "\"max\":%.3f,\"n\":%ld}\n",
           suite, name, samples[SAMPLES / 2], samples[0], samples[SAMPLES - 1], n * SAMPLES);
    fflush(stdout);
}

/* ---- (g): parked runs ------------------------------------------------------------------------ */

struct parked {
    uint64_t id;
    unsigned step, state;
    value at;
    size_t n; /* the input, a record of two members, and the text of the second */
    struct member in[2];
    char s[16];
};

static double resident(void) {
    long all = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all, &pages) != 2) pages = 0;
    if (f) fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void g_parked(void) {
    enum { N = 100000 };
    double before = resident(), start = now_ns();
    size_t held = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (long i = 0; i < N; i++) {
        struct parked *p = malloc(sizeof *p);
        p->id = (uint64_t)i;
        p->step = p->state = 1;
        p->n = 2;
        strcpy(p->s, "granule-0001");
        p->in[0] = (struct member){kn, number((double)i)};
        p->in[1] = (struct member){ks, text(p->s, 12)};
        p->at = record_value((struct record *)&p->n);
        timer_push(3600000000000u, p);
    }
    double took = (now_ns() - start) / N,
           live = (double)(mallinfo2().uordblks + mallinfo2().hblkhd - held) / N;
    printf("{\"suite\":\"wf\",\"peer\":\"C by "
           "hand\",\"case\":\"g_parked\",\"unit\":\"bytes/run\",\"median\":%.1f,"
           "\"rss\":%.1f,\"startNs\":%.1f,\"n\":%d}\n",
           live, (resident() - before) / N, took, N);
}

int main(int argc, char **argv) {
    static struct {
        size_t n;
        struct member at[2];
    } in;
    in.n = 2;
    in.at[0] = (struct member){kn, number(1)};
    in.at[1] = (struct member){ks, WORD("granule-0001")};
    input = record_value((struct record *)&in);
    if (argc > 1 && strcmp(argv[1], "parked") == 0) {
        g_parked();
        return 0;
    }
    large = calloc(1, sizeof *large);
    large->arena = malloc(large->size = ARENA);
    thousand = list_value(malloc(sizeof(struct list) + 1000 * sizeof(value)));
    thousand.as.list->n = 1000;
    for (int i = 0; i < 1000; i++) thousand.as.list->at[i] = number(i);
    step = make_step();
    check_expressions();
    measure("wf", "a_min", a_min);
    measure("wf", "b_chain10", b_chain10);
    measure("wf", "c_retry", c_retry);
    measure("wf", "d_loop1000", d_loop1000);
    measure("wf", "e_fan1000", e_fan1000);
    measure("wf", "f_timeout", f_timeout);
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        the_expression = &expressions[i];
        measure("expr", expressions[i].name, evaluate);
    }
    return 0;
}
