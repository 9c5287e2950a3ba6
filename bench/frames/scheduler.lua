-- scheduler.lua: runs a script for each actor, in coroutines. A wheel has the timers, a list for each frame. Nothing is
-- allocated after the start, so that there is no garbage. A script that its walk has woken leaves its timer in the wheel;
-- the number of its wait says that the timer is not meant any more.
local load_script, look, begin_walk, stop_walk, frame_ns = ...
local yield, resume, create = coroutine.yield, coroutine.resume, coroutine.create

local SLOTS = 128 -- no wait is as long as this many frames
local wheel, count, frame = {}, {}, 0
for i = 0, SLOTS - 1 do
    wheel[i], count[i] = {}, 0
end
local scripts, waits, walking = {}, {}, {} -- by actor

local function wake_after(actor, seconds)
    local at = (frame + ((seconds * 1e9) // 1 + frame_ns - 1) // frame_ns) % SLOTS | 0
    local slot, n = wheel[at], count[at]
    slot[n + 1], slot[n + 2] = actor, waits[actor]
    count[at] = n + 2
end

local function rest(actor, seconds)
    wake_after(actor, seconds)
    yield()
end

local function walk(actor, x, y, limit)
    begin_walk(actor, x, y)
    walking[actor] = true
    wake_after(actor, limit)
    return yield()
end

local script = load_script(look, rest, walk)

local function go_on(actor, ...)
    waits[actor] = waits[actor] + 1
    local good, why = resume(scripts[actor], ...)
    if not good then error(why, 0) end
end

local function start(actor, pause)
    scripts[actor], waits[actor], walking[actor] = create(script), 0, false
    go_on(actor, actor, pause)
end

local function arrived(actor, now) -- before a limit of the same frame
    frame = now
    walking[actor] = false
    go_on(actor, true)
end

local function step(now)
    frame = now
    local at = now % SLOTS
    local slot = wheel[at]
    for i = 1, count[at], 2 do
        local actor = slot[i]
        if waits[actor] == slot[i + 1] then
            if walking[actor] then
                walking[actor] = false
                stop_walk(actor)
            end
            go_on(actor, false)
        end
    end
    count[at] = 0
end

return start, arrived, step
