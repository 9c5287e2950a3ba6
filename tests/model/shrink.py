"""Make a disagreeing program smaller: delete members and elements, put simpler values in place, as long as
it still disagrees. A candidate that the assembler rejects, or the model cannot read, does not count."""
import copy


def paths(node, here=()):
    """Every place in the tree, the largest parts first come first."""
    if isinstance(node, dict):
        for key in list(node):
            yield here + (key,)
        for key in list(node):
            yield from paths(node[key], here + (key,))
    elif isinstance(node, list):
        for i in range(len(node)):
            yield here + (i,)
        for i in range(len(node)):
            yield from paths(node[i], here + (i,))


def at(node, path):
    for part in path:
        node = node[part]
    return node


def candidates(job, path):
    """Smaller programs that differ at this place only."""
    def changed(change):
        new = copy.deepcopy(job)
        holder = at(new, path[:-1])
        change(holder, path[-1])
        return new
    try:
        value = at(job, path)
    except (KeyError, IndexError, TypeError):
        return
    yield changed(lambda h, k: h.__delitem__(k))
    if path[-1] in ("middleware", "catch", "assign", "$schema", "provider"):
        return
    if isinstance(value, str) and value.startswith("{{"):
        for simple in ("{{ vars.n }}", "{{ vars.log }}", "{{ true }}"):
            if value != simple and len(simple) < len(value):
                yield changed(lambda h, k, s=simple: h.__setitem__(k, s))
    if isinstance(value, dict) and "action" in value and value["action"] not in ("Return", "Raise"):
        yield changed(lambda h, k: h.__setitem__(k, {"action": "Return"}))
    if isinstance(value, dict) and path[-1] == "call":
        mock = {"provider": "mwl:provider.call/mwl/mock/v1"}
        if value != mock:
            yield changed(lambda h, k: h.__setitem__(k, mock))


def smaller(job, still):
    def holds(candidate):
        try:
            return still(candidate)
        except Exception:  # not a program any more
            return False
    progress = True
    while progress:
        progress = False
        for path in list(paths(job)):
            for candidate in candidates(job, path):
                if holds(candidate):
                    job, progress = candidate, True
                    break
    return job
