/* host_lua_c.c: the scripts as coroutines of Lua 5.4, npc.lua, with their scheduler in C.
 *
 * The least that can run this script: a wheel with a list of timers for each frame. A script that
 * its walk has woken leaves its timer there; the number of its wait says that the timer is not
 * meant any more. */
#include "bench/frames/lua_game.h"

#include <stdlib.h>

enum { WHEEL = 128 }; /* no wait is as long as this many frames */

typedef struct script {
    lua_State *co;
    uint32_t wait; /* the number of its present wait */
} script;

static struct slot {
    struct {
        uint32_t id, wait;
    } * timers;
    uint32_t n, cap;
} wheel[WHEEL];

static script *scripts;
static uint32_t *ready, n_ready; /* actors that have arrived */

const char host_name[] = "Lua 5.4, scheduler in C";

static void wake_after(uint32_t id, double seconds) {
    int64_t ns = (int64_t)(seconds * 1e9);
    uint32_t frames = (uint32_t)((ns + FRAME_NS - 1) / FRAME_NS);
    struct slot *slot = &wheel[(the_game->frame + frames) % WHEEL];
    if (slot->n == slot->cap) {
        slot->cap = slot->cap ? slot->cap * 2 : 64;
        slot->timers = realloc(slot->timers, slot->cap * sizeof *slot->timers);
        if (!slot->timers) abort();
    }
    slot->timers[slot->n].id = id;
    slot->timers[slot->n++].wait = scripts[id].wait;
}

static int lua_rest(lua_State *co) {
    wake_after(actor_of(co), luaL_checknumber(co, 2));
    return lua_yield(co, 0);
}

static int lua_walk(lua_State *co) {
    uint32_t id = actor_of(co);
    game_walk(the_game, id, luaL_checknumber(co, 2), luaL_checknumber(co, 3),
              &the_game->actors[id]);
    wake_after(id, luaL_checknumber(co, 4));
    return lua_yield(co, 0);
}

/* Runs a script until it yields. */
static bool go_on(uint32_t id, int n_args) {
    script *s = &scripts[id];
    int n = 0;
    s->wait++;
    if (lua_resume(s->co, lua, n_args, &n) != LUA_YIELD) return complain(s->co);
    lua_pop(s->co, n);
    return true;
}

bool host_open(game *g, const char *folder) {
    scripts = calloc(g->n_actors, sizeof *scripts);
    ready = calloc(g->n_actors, sizeof *ready);
    if (!scripts || !ready || !open_lua(g) || !load_file(folder, "npc.lua")) return false;
    lua_pushcfunction(lua, lua_look);
    lua_pushcfunction(lua, lua_rest);
    lua_pushcfunction(lua, lua_walk);
    if (lua_pcall(lua, 3, 1, 0) != LUA_OK) return complain(lua);
    lua_createtable(lua, (int)g->n_actors, 0); /* keeps the coroutines */
    for (uint32_t i = 0; i < g->n_actors; i++) {
        scripts[i].co = lua_newthread(lua);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
        lua_pushvalue(lua, -2);
        lua_xmove(lua, scripts[i].co, 1);
        lua_pushinteger(scripts[i].co, (lua_Integer)i);
        lua_pushnumber(scripts[i].co, game_pause_ms(i) / 1000.0);
        if (!go_on(i, 2)) return false;
    }
    return true;
}

void host_arrived(game *g, void *walk) {
    ready[n_ready++] = (uint32_t)((const actor *)walk - g->actors);
}

static bool wake(uint32_t id, bool in_time) {
    lua_pushboolean(scripts[id].co, in_time);
    return go_on(id, 1);
}

bool host_frame(game *g) {
    struct slot *slot = &wheel[g->frame % WHEEL];
    for (uint32_t i = 0; i < n_ready; i++) /* before a limit of the same frame */
        if (!wake(ready[i], true)) return false;
    n_ready = 0;
    for (uint32_t i = 0; i < slot->n; i++) {
        uint32_t id = slot->timers[i].id;
        if (scripts[id].wait != slot->timers[i].wait) continue;
        if (g->actors[id].walk) game_stop(g, id);
        if (!wake(id, false)) return false;
    }
    slot->n = 0;
    return true;
}

void host_close(game *g) {
    (void)g;
    lua_close(lua);
    for (int i = 0; i < WHEEL; i++) free(wheel[i].timers);
    free(scripts);
    free(ready);
}
