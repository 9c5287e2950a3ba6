-- npc.lua: the script of npc.json as a coroutine. rest and walk yield.
local look, rest, walk = ...

return function(actor, pause)
    local walks = 0
    while true do
        rest(actor, pause)
        local threat, x, y = look(actor)
        if threat > 0.8 then
            x, y = -x, -y
        end
        if walk(actor, x, y, 0.5) then -- false: it took too long
            walks = walks + 1
        end
    end
end
