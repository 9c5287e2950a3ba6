/* game.c: the world, the frames, and what is measured: the processor time that the scripts take in
 * each frame.
 *
 *   frames_HOST FOLDER [ACTORS [FRAMES]]
 *
 * Prints one line of JSON. The first two seconds are not measured. */
#define _POSIX_C_SOURCE 200809L /* clocks */

#include "bench/frames/game.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WARM_FRAMES = 120 };

static double chance(actor *a, uint32_t id) { /* 0 to below 1 */
    uint64_t z = ((uint64_t)id << 32 | a->asked++) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

sight game_look(game *g, uint32_t id) {
    actor *a = &g->actors[id];
    g->looks++;
    sight s;
    s.threat = chance(a, id);
    s.x = a->x + chance(a, id) * 20 - 10;
    s.y = a->y + chance(a, id) * 20 - 10;
    return s;
}

void game_walk(game *g, uint32_t id, double x, double y, void *walk) {
    actor *a = &g->actors[id];
    g->walks++;
    a->to_x = x;
    a->to_y = y;
    a->walk = walk;
    a->walk_ends = g->frame + 5 + (uint32_t)(chance(a, id) * 40);
    struct arrivals *list = &g->arrivals[a->walk_ends % WALK_FRAMES];
    if (list->n == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 64;
        list->ids = realloc(list->ids, list->cap * sizeof *list->ids);
        if (!list->ids) abort();
    }
    list->ids[list->n++] = id;
}

void game_stop(game *g, uint32_t id) {
    g->gave_up++;
    g->actors[id].walk = NULL;
}

uint32_t game_pause_ms(uint32_t id) { return 500 + id * 7919u % 1000; }

/* The actors whose walks end in this frame. One that gave up, and perhaps walks again, is only in
 * the list. */
static void arrive(game *g) {
    struct arrivals *list = &g->arrivals[g->frame % WALK_FRAMES];
    for (uint32_t i = 0; i < list->n; i++) {
        actor *a = &g->actors[list->ids[i]];
        if (!a->walk || a->walk_ends != g->frame) continue;
        void *walk = a->walk;
        a->walk = NULL;
        a->x = a->to_x;
        a->y = a->to_y;
        g->arrived++;
        host_arrived(g, walk);
    }
    list->n = 0;
}

static double processor_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double resident_bytes(void) {
    FILE *f = fopen("/proc/self/statm", "r");
    long pages = 0;
    if (!f || fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    game g = {.n_actors = argc > 2 ? (uint32_t)atoi(argv[2]) : 10000};
    uint32_t frames = argc > 3 ? (uint32_t)atoi(argv[3]) : 900;
    double *took = calloc(frames + 1, sizeof *took);
    g.actors = calloc(g.n_actors, sizeof *g.actors);
    if (argc < 2 || !took || !g.actors || !frames) return 2;
    double before = resident_bytes(), total = 0;
    bool good = host_open(&g, argv[1]);
    for (; good && g.frame < WARM_FRAMES + frames; g.frame++) {
        double start = processor_us();
        arrive(&g);
        good = host_frame(&g);
        double us = processor_us() - start;
        if (g.frame < WARM_FRAMES) continue;
        took[g.frame - WARM_FRAMES] = us;
        total += us;
    }
    if (!good) return fprintf(stderr, "%s: a script failed\n", host_name), 1;
    qsort(took, frames, sizeof *took, ascending);
    printf(
        "{\"host\":\"%s\",\"actors\":%u,\"frames\":%u,\"medianUs\":%.1f,\"p99Us\":%.1f,\"maxUs\":%.1f,"
        "\"totalUs\":%.0f,\"bytesPerActor\":%.0f,\"looks\":%llu,\"walks\":%llu,\"arrived\":%llu,\"gaveUp\":%llu}\n",
        host_name, g.n_actors, frames, took[frames / 2], took[frames - 1 - frames / 100],
        took[frames - 1], total, (resident_bytes() - before) / g.n_actors,
        (unsigned long long)g.looks, (unsigned long long)g.walks, (unsigned long long)g.arrived,
        (unsigned long long)g.gave_up);
    host_close(&g);
    for (int i = 0; i < WALK_FRAMES; i++) free(g.arrivals[i].ids);
    free(g.actors);
    free(took);
    return 0;
}
