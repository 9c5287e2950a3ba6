# One Markdown table of the lines that mwl-bench and its peers write: a row per case that a peer
# has too, a column per peer.
function field(name,   at, rest) {
    at = index($0, "\"" name "\":")
    if (!at) return ""
    rest = substr($0, at + length(name) + 3)
    if (substr(rest, 1, 1) == "\"") {
        rest = substr(rest, 2)
        return substr(rest, 1, index(rest, "\"") - 1)
    }
    sub(/[,}].*/, "", rest)
    return rest
}
function add(key, peer, x) {
    if (!(key in known)) { known[key] = 1; cases[++n_cases] = key }
    if (!(peer in column)) { column[peer] = 1; peers[++n_peers] = peer }
    value[key, peer, ++count[key, peer]] = x + 0
}
function median(key, peer,   n, i, j, x, list) {
    n = count[key, peer]
    if (!n) return -1
    for (i = 1; i <= n; i++) {
        x = value[key, peer, i]
        for (j = i - 1; j >= 1 && list[j] > x; j--) list[j + 1] = list[j]
        list[j + 1] = x
    }
    return list[int((n + 1) / 2)]
}
function show(key, x) {
    if (key ~ /bytes/) return sprintf("%.0f B", x)
    if (x >= 1e6) return sprintf("%.2f ms", x / 1e6)
    if (x >= 1e3) return sprintf("%.2f us", x / 1e3)
    return sprintf(x >= 100 ? "%.0f ns" : "%.1f ns", x)
}
function ratio(x) { return sprintf(x >= 100 ? "%.0f" : x >= 10 ? "%.1f" : "%.2f", x) }

field("error") != "" { next }
{
    key = field("suite") "/" field("case")
    if (field("unit") == "bytes/run") {
        add(key ", resident bytes", field("peer"), field("rss"))
        add(key ", time to park", field("peer"), field("startNs"))
    } else {
        add(key, field("peer"), field("cpu") != "" ? field("cpu") : field("median"))
    }
}
END {
    printf "| case |"
    for (p = 1; p <= n_peers; p++) printf " %s |", peers[p]
    printf "\n| --- |"
    for (p = 1; p <= n_peers; p++) printf " ---: |"
    printf "\n"
    for (c = 1; c <= n_cases; c++) {
        key = cases[c]
        ours = median(key, "mwlvm")
        others = 0
        for (p = 1; p <= n_peers; p++) others += peers[p] != "mwlvm" && count[key, peers[p]] > 0
        if (!others) continue
        printf "| %s |", key
        for (p = 1; p <= n_peers; p++) {
            x = median(key, peers[p])
            if (x < 0) printf " |"
            else if (peers[p] == "mwlvm" || ours <= 0) printf " %s |", show(key, x)
            else printf " %s (%s) |", show(key, x), ratio(x / ours)
        }
        printf "\n"
    }
}
