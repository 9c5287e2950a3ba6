/* host_lua.c: the scripts as coroutines of Lua 5.4, npc.lua, with their scheduler in Lua,
 * scheduler.lua. */
#include "bench/frames/lua_game.h"

#include <stdlib.h>

enum { START = 1, ARRIVED, STEP }; /* the functions of scheduler.lua, on the stack */

static uint32_t *ready, n_ready; /* actors that have arrived */

const char host_name[] = "Lua 5.4";

static int begin_walk(lua_State *co) {
    uint32_t id = actor_of(co);
    game_walk(the_game, id, luaL_checknumber(co, 2), luaL_checknumber(co, 3),
              &the_game->actors[id]);
    return 0;
}

static int stop_walk(lua_State *co) {
    game_stop(the_game, actor_of(co));
    return 0;
}

static bool call(int function, int n_args) {
    lua_pushvalue(lua, function);
    lua_insert(lua, -n_args - 1);
    return lua_pcall(lua, n_args, 0, 0) == LUA_OK || complain(lua);
}

bool host_open(game *g, const char *folder) {
    ready = calloc(g->n_actors, sizeof *ready);
    if (!ready || !open_lua(g) || !load_file(folder, "scheduler.lua") ||
        !load_file(folder, "npc.lua"))
        return false;
    lua_pushcfunction(lua, lua_look);
    lua_pushcfunction(lua, begin_walk);
    lua_pushcfunction(lua, stop_walk);
    lua_pushinteger(lua, FRAME_NS);
    if (lua_pcall(lua, 5, 3, 0) != LUA_OK) return complain(lua);
    for (uint32_t i = 0; i < g->n_actors; i++) {
        lua_pushinteger(lua, (lua_Integer)i);
        lua_pushnumber(lua, game_pause_ms(i) / 1000.0);
        if (!call(START, 2)) return false;
    }
    return true;
}

void host_arrived(game *g, void *walk) {
    ready[n_ready++] = (uint32_t)((const actor *)walk - g->actors);
}

bool host_frame(game *g) {
    for (uint32_t i = 0; i < n_ready; i++) {
        lua_pushinteger(lua, ready[i]);
        lua_pushinteger(lua, g->frame);
        if (!call(ARRIVED, 2)) return false;
    }
    n_ready = 0;
    lua_pushinteger(lua, g->frame);
    return call(STEP, 1);
}

void host_close(game *g) {
    (void)g;
    lua_close(lua);
    free(ready);
}
