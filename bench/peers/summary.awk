# awk -f summary.awk bench/PEERS.md bench/README.md: the page README.md with the table between its two marks made anew
# from the table of PEERS.md: what a user would ask for, in words, and what the peers take for it.
BEGIN {
    FS = " *[|] *"
    say("wf/a_min", "start and finish the smallest run: a Pass and a Return")
    say("wf/b_chain10", "run ten Steps, each with expressions that make a new object")
    say("wf/c_retry", "a call that fails twice under Retry, then succeeds")
    say("wf/d_loop1000", "call a function a thousand times in a Loop")
    say("wf/e_fan1000", "a Gather of a thousand calls")
    say("wf/f_timeout", "a Timeout that fires")
    say("wf/g_parked, resident bytes", "memory of a run that waits")
    say("expr/e1_select", "an expression: one member, four levels deep")
    say("expr/e5_list100", "an expression: filter and map a list of 100")
    say("schema/validate", "validate an order against its JSON Schema")
    say("json/parse_large", "read 10 MB of JSON")
    say("json/write_large", "write 10 MB of JSON")
}
function say(key, words) { order[++n_rows] = key; text[key] = words }

# 4.44 -> "4.4 times"
function times(ratio) {
    if (ratio >= 10) return sprintf("%.0f times", ratio)
    if (ratio >= 0.95) return sprintf("%.1f times", ratio)
    return sprintf("%.2f times", ratio)
}
# "191 ns" -> "5.2 million"; bytes have none
function in_a_second(cell,   part, ns) {
    split(cell, part, " ")
    if (part[2] == "B") return ""
    ns = part[1] * (part[2] == "us" ? 1e3 : part[2] == "ms" ? 1e6 : 1)
    if (ns <= 0) return ""
    ns = 1e9 / ns
    if (ns >= 1e6) return sprintf("%.1f million", ns / 1e6)
    if (ns >= 1e4) return sprintf("%.0f thousand", ns / 1e3)
    return sprintf("%.0f", ns)
}
function table(   i, key) {
    print "| work | takes | in a second | others take |"
    print "| --- | ---: | ---: | --- |"
    for (i = 1; i <= n_rows; i++) {
        key = order[i]
        if (key in ours) printf "| %s | %s | %s | %s |\n", text[key], ours[key], in_a_second(ours[key]), others[key]
    }
}

FNR == NR {
    if (/^[0-9][0-9][0-9][0-9]-/) measured = $0
    if (/^\| case \|/) for (i = 3; i < NF; i++) peer[i] = $i
    if (!($2 in text)) next
    ours[$2] = $3
    for (i = 4; i < NF; i++)
        if (match($i, /\([0-9.]+\)/))
            others[$2] = others[$2] (others[$2] ? ", " : "") peer[i] " " times(substr($i, RSTART + 1, RLENGTH - 2) + 0)
    next
}
/^<!-- end of the summary -->/ { inside = 0 }
!inside { print }
/^<!-- summary: / {
    inside = 1
    print ""
    print "Measured: " measured
    print ""
    table()
    print ""
}
