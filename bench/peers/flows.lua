-- The work of wf (a) to (g) and expr (e1) to (e6) by hand in Lua: a run is a coroutine, a Step a function. For Lua 5.4
-- and LuaJIT. One JSON line per case, processor time per operation; `parked` as the argument measures (g) alone.
local peer = jit and "LuaJIT" or "Lua 5.4"
local SAMPLES, LEAST = 5, 0.045

local function line(suite, case, unit, median, low, high, n, more)
    print(string.format('{"suite":"%s","peer":"%s","case":"%s","unit":"%s","median":%.3f,"min":%.3f,"max":%.3f,"n":%d%s}',
        suite, peer, case, unit, median, low, high, n, more or ""))
end

local function measure(suite, case, work)
    local n, samples = 1, {}
    collectgarbage() -- what other cases left is not this one's
    while true do
        local start = os.clock()
        work(n)
        if os.clock() - start >= LEAST then break end
        n = n * 2
    end
    for i = 1, SAMPLES do
        local start = os.clock()
        work(n)
        samples[i] = (os.clock() - start) * 1e9 / n
    end
    table.sort(samples)
    line(suite, case, "ns/op", samples[3], samples[1], samples[SAMPLES], n * SAMPLES)
end

-- ---- a scheduler: runs, and the timers that wake them

local timers, n_timers = {}, 0

local function sleep_until(due, run)
    n_timers = n_timers + 1
    local at = n_timers
    while at > 1 do
        local up = (at - at % 2) / 2
        if timers[up].due <= due then break end
        timers[at], at = timers[up], up
    end
    timers[at] = { due = due, run = run }
end

local function next_timer()
    local first, last = timers[1], timers[n_timers]
    timers[n_timers] = nil
    n_timers = n_timers - 1
    if n_timers == 0 then return first end
    local at = 1
    while true do
        local child = 2 * at
        if child > n_timers then break end
        if child < n_timers and timers[child + 1].due < timers[child].due then child = child + 1 end
        if timers[child].due >= last.due then break end
        timers[at], at = timers[child], child
    end
    timers[at] = last
    return first
end

local function run(flow, input)
    local ok, answer = coroutine.resume(coroutine.create(flow), input)
    if not ok then error(answer) end
    return answer
end

-- ---- the flows

local input = { n = 1.0, s = "granule-0001" }
local thousand = {}
for i = 1, 1000 do thousand[i] = i - 1.0 end

local function pass(value) return value end
local function add_one(value) return { n = value.n + 1.0, s = value.s } end
local function noop(value) return value end

local ten = {}
for i = 1, 10 do ten[i] = add_one end

local flows = {
    a_min = function(value) return (pass(value)) end,
    b_chain10 = function(value)
        for i = 1, 10 do value = ten[i](value) end
        return value
    end,
    c_retry = function(value)
        local calls = 0
        local function flaky(v)
            calls = calls + 1
            if calls < 3 then error({ code = "Provider.Call.Flaky" }, 0) end
            return v
        end
        for attempt = 1, 3 do
            local ok, answer = pcall(flaky, value)
            if ok then return answer end
            if attempt == 3 or answer.code:sub(1, 14) ~= "Provider.Call." then error(answer, 0) end
        end
    end,
    d_loop1000 = function(value)
        local iteration = 0
        repeat
            value = noop(value)
            iteration = iteration + 1
        until iteration >= 1000
        return value
    end,
    e_fan1000 = function(list)
        local answers = {}
        for i = 1, #list do answers[i] = run(noop, list[i]) end
        return answers
    end,
}

local function never() coroutine.yield() end

local function timeouts(n)
    local last
    while n > 0 do
        local k = math.min(n, 5000)
        n = n - k
        for _ = 1, k do
            local co = coroutine.create(never)
            coroutine.resume(co)
            sleep_until(0.001, co)
        end
        for _ = 1, k do
            local timer = next_timer()
            if coroutine.close then coroutine.close(timer.run) end
            last = { type = "timeout", code = "Provider.Middleware.Timeout.Exceeded" }
        end
    end
    return last
end

local function resident()
    local f = io.open("/proc/self/statm")
    if not f then return 0 end
    local _, pages = f:read("*n", "*n")
    f:close()
    return pages * 4096
end

if arg[1] == "parked" then
    local N = 100000
    local function sleeper(value)
        value = pass(value)
        coroutine.yield()
        return value
    end
    collectgarbage()
    collectgarbage()
    local held, before, start = collectgarbage("count"), resident(), os.clock()
    for i = 1, N do
        local co = coroutine.create(sleeper)
        coroutine.resume(co, { n = i + 0.0, s = "granule-0001" })
        sleep_until(3600.0, co)
    end
    local took = (os.clock() - start) * 1e9 / N
    collectgarbage()
    collectgarbage()
    local live = (collectgarbage("count") - held) * 1024 / N
    line("wf", "g_parked", "bytes/run", live, live, live, N,
        string.format(',"rss":%.1f,"startNs":%.1f', (resident() - before) / N, took))
    os.exit(0)
end

assert(run(flows.a_min, input) == input and run(flows.b_chain10, input).n == 11)
assert(run(flows.c_retry, input) == input and run(flows.d_loop1000, input) == input)
local answers = run(flows.e_fan1000, thousand)
assert(#answers == 1000 and answers[1000] == 999 and timeouts(1).type == "timeout")
for _, case in ipairs({ "a_min", "b_chain10", "c_retry", "d_loop1000", "e_fan1000" }) do
    local flow, value = flows[case], case == "e_fan1000" and thousand or input
    measure("wf", case, function(n) for _ = 1, n do run(flow, value) end end)
end
measure("wf", "f_timeout", timeouts)

-- ---- expressions

local items = {}
for i = 0, 99 do items[i + 1] = { id = "i" .. i, v = i * 37 % 100 + 0.0 } end
local steps = {} -- several, taken in turn: a compiler must not move the work out of the loop
for i = 1, 8 do
    steps[i] = { input = {
        id = "granule-0001", collection = "modis-l1", a = 7.0, b = 20.0, items = items,
        user = { name = "ada", address = { street = "main", city = "oslo" } },
    } }
end

local expressions = {
    { "e1_select", function(step) return step.input.user.address.city end, function(v) return v == "oslo" end },
    { "e2_arith", function(step) return step.input.a * 2.0 + step.input.b > 10.0 and step.input.b <= 100.0 end,
        function(v) return v == true end },
    { "e3_concat", function(step) return "/granules/" .. step.input.collection .. "/" .. step.input.id end,
        function(v) return v == "/granules/modis-l1/granule-0001" end },
    { "e4_has", function(step) return step.input.opt == nil and "default" or step.input.opt end,
        function(v) return v == "default" end },
    { "e5_list100", function(step)
        local kept, doubled, list, k = {}, {}, step.input.items, 0
        for i = 1, #list do
            if list[i].v > 50.0 then
                k = k + 1
                kept[k] = list[i]
            end
        end
        for i = 1, k do doubled[i] = kept[i].v * 2.0 end
        return doubled
    end, function(v) return #v == 49 and v[1] == 148 end },
    { "e6_map", function(step)
        local value = step.input
        return { id = value.id, n = value.a + 1.0, tags = { "x", value.collection }, nested = { ok = true } }
    end, function(v) return v.n == 8 and v.tags[2] == "modis-l1" and v.nested.ok end },
}
for _, e in ipairs(expressions) do
    local case, evaluate, right = e[1], e[2], e[3]
    assert(right(evaluate(steps[1])), case)
    measure("expr", case, function(n)
        local last
        for i = 1, n do last = evaluate(steps[i % 8 + 1]) end
        return last
    end)
end
