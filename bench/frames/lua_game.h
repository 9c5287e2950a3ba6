/* lua_game.h: what both hosts with Lua share: the state, loading a file, and the function look().
 */
#ifndef MWL_BENCH_FRAMES_LUA_GAME_H
#define MWL_BENCH_FRAMES_LUA_GAME_H

#include "bench/frames/game.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

static game *the_game;
static lua_State *lua;

static uint32_t actor_of(lua_State *co) { return (uint32_t)luaL_checkinteger(co, 1); }

/* look(actor) -> threat, x, y */
static int lua_look(lua_State *co) {
    sight s = game_look(the_game, actor_of(co));
    lua_pushnumber(co, s.threat);
    lua_pushnumber(co, s.x);
    lua_pushnumber(co, s.y);
    return 3;
}

static bool complain(lua_State *from) {
    fprintf(stderr, "%s\n", lua_tostring(from, -1));
    return false;
}

/* Pushes the chunk FOLDER/NAME. */
static bool load_file(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return luaL_loadfile(lua, path) == LUA_OK || complain(lua);
}

static bool open_lua(game *g) {
    the_game = g;
    lua = luaL_newstate();
    if (!lua) return false;
    luaL_openlibs(lua);
    return true;
}

#endif
