/* game.h: a game at 60 frames a second whose actors are scripts, without what runs the scripts.
 *
 * Owns the world (game.c): where actors are, what they see, who walks, the frames and the
 * measuring. The game is linked with one of two hosts, host_mwl.c and host_lua.c, which own the
 * scripts. Numbers by chance depend on the actor and on how often it has asked, not on the order in
 * which scripts run: so both hosts must do exactly the same work, which the totals show. */
#ifndef MWL_BENCH_FRAMES_GAME_H
#define MWL_BENCH_FRAMES_GAME_H

#include <stdbool.h>
#include <stdint.h>

#define FRAME_NS INT64_C(16666667)

enum { WALK_FRAMES = 64 }; /* a walk takes fewer frames than this */

typedef struct actor {
    double x, y, to_x, to_y;
    void *walk;         /* what the host gets back when the actor has arrived; NULL: it stands */
    uint32_t walk_ends; /* the frame in which it arrives */
    uint32_t asked;     /* how often chance was asked for it */
} actor;

typedef struct game {
    actor *actors;
    uint32_t n_actors;
    uint32_t frame;
    struct arrivals {
        uint32_t *ids;
        uint32_t n, cap;
    } arrivals[WALK_FRAMES]; /* by the last bits of the frame */
    uint64_t looks, walks, arrived, gave_up;
} game;

/* What an actor sees. */
typedef struct sight {
    double threat, x, y;
} sight;

/* What scripts may ask of the game. */
sight game_look(game *g, uint32_t id);
/* Begins a walk; host_arrived() gets `walk` when it ends. */
void game_walk(game *g, uint32_t id, double x, double y, void *walk);
/* Ends a walk before its time. */
void game_stop(game *g, uint32_t id);
/* How long the actor rests between two walks, in milliseconds. */
uint32_t game_pause_ms(uint32_t id);

/* ---- what a host has ------------------------------------------------------------------------- */

extern const char host_name[];
/* Makes a script for each actor. `folder` has the scripts. */
bool host_open(game *g, const char *folder);
/* One frame of all scripts. False: a script has failed. */
bool host_frame(game *g);
/* The walk has ended; the script goes on in this frame's host_frame(). */
void host_arrived(game *g, void *walk);
void host_close(game *g);

#endif
