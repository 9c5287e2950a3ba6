"""graph_check.py: what must hold for the geometry of a picture that `mwlvm graph` draws.

Reads the SVG alone: no box lies on another one, groups contain their members, no edge passes through a
box or a label that is not its own, labels lie on no box and on no other label, edges begin and end at
the boxes they name, and everything lies within the viewBox. Of definitions that people wrote also: no line
has a kink, and none goes aside where straight down is free.
"""
import bisect
import re
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
SLACK = 0.6  # numbers are written with one decimal
KINK = 6  # a step to the side that is shorter looks like a mistake
INSET = 12  # of an edge's end from the corner of its box
ASIDE = 20  # so far an edge may go beyond both of its ends


class Rect:
    def __init__(self, x, y, w, h):
        self.x, self.y, self.w, self.h = x, y, w, h
        self.r, self.b = x + w, y + h

    def overlaps(self, o, slack=SLACK):
        return self.x + slack < o.r and o.x + slack < self.r and self.y + slack < o.b and o.y + slack < self.b

    def contains(self, o, slack=SLACK):
        return (self.x <= o.x + slack and self.y <= o.y + slack and self.r >= o.r - slack and
                self.b >= o.b - slack)

    def __repr__(self):
        return f"({self.x:g},{self.y:g} {self.w:g}x{self.h:g})"


def rect_of(e):
    return Rect(*(float(e.get(k)) for k in ("x", "y", "width", "height")))


def shape_of(g):
    rect = g.find(SVG + "rect")
    if rect is not None:
        return rect_of(rect)
    c = g.find(SVG + "circle")
    x, y, r = (float(c.get(k)) for k in ("cx", "cy", "r"))
    return Rect(x - r, y - r, 2 * r, 2 * r)


def points_of(path):
    """The corners of the line: a curve at a corner is replaced by the corner itself, which lies outside of it."""
    out = []
    for op, numbers in re.findall(r"([MLQ])([^MLQ]*)", path):
        v = [float(n) for n in numbers.split()]
        out += [(v[i], v[i + 1]) for i in range(0, len(v), 2)]
    return out


def corners_of(path):
    """The ends of the line and its corners alone."""
    out = [[float(n) for n in numbers.split()] for _, numbers in re.findall(r"([MQ])([^MLQ]*)", path)]
    return [(v[0], v[1]) for v in out] + points_of(path)[-1:]


def segments(points):
    for (x1, y1), (x2, y2) in zip(points, points[1:]):
        if abs(x1 - x2) > 0.15 and abs(y1 - y2) > 0.15 and len(points) < 3:
            yield None
        yield Rect(min(x1, x2), min(y1, y2), abs(x1 - x2), abs(y1 - y2))


def hits(rect, seg):
    """The segment passes through the inside of the rectangle."""
    return (rect.x + SLACK < max(seg.r, seg.x) and seg.x < rect.r - SLACK and
            rect.y + SLACK < max(seg.b, seg.y) and seg.y < rect.b - SLACK)


class Index:
    """Rectangles, to find those that another one may meet: small ones by their left side or by their top, whichever is
    narrower there, and the few large ones (groups) always."""

    def __init__(self, items):
        sizes = sorted(max(r.w, r.h) for _, r in items)
        self.limit = 2 * sizes[len(sizes) // 2] if sizes else 0
        small = [i for i in items if max(i[1].w, i[1].h) <= self.limit]
        self.large = [i for i in items if max(i[1].w, i[1].h) > self.limit]
        self.by_x = sorted(small, key=lambda i: i[1].x)
        self.by_y = sorted(small, key=lambda i: i[1].y)
        self.xs = [r.x for _, r in self.by_x]
        self.ys = [r.y for _, r in self.by_y]

    def near(self, rect):
        if rect.w < rect.h:
            starts, items, low, high = self.xs, self.by_x, rect.x, rect.r
        else:
            starts, items, low, high = self.ys, self.by_y, rect.y, rect.b
        return items[bisect.bisect_left(starts, low - self.limit - 1):bisect.bisect_right(starts, high + 1)] + self.large


class Picture:
    def __init__(self, text):
        self.root = ET.fromstring(text)
        self.problems = []
        self.nodes, self.inside, self.kinds = {}, {}, {}
        self.edges, self.labels, self.corners = {}, {}, {}
        for g in self.root.iter(SVG + "g"):
            words = (g.get("class") or "").split()
            if "e" in words:
                self.corners[g.get("id")] = corners_of(g.find(SVG + "path").get("d"))
                self.edges[g.get("id")] = (g.get("data-from"), g.get("data-to"),
                                           points_of(g.find(SVG + "path").get("d")))
            elif "label" in words:
                self.labels[g.get("data-of")] = (shape_of(g), g)
            elif g.get("id"):
                self.nodes[g.get("id")] = shape_of(g)
                self.inside[g.get("id")] = g.get("data-in")
                self.kinds[g.get("id")] = words

    def say(self, text):
        self.problems.append(text)

    def around(self, node):
        """The node and the groups it lies in."""
        out = set()
        while node not in out:
            out.add(node)
            node = self.inside[node]
        return out

    def check_texts(self):
        for g in self.root.iter(SVG + "g"):
            words = (g.get("class") or "").split()
            if "e" in words:
                continue
            for t in g.iter(SVG + "text"):
                r = Rect(float(t.get("x")), float(t.get("y")) - 10, float(t.get("textLength")), 12)
                if not shape_of(g).contains(r):
                    self.say(f"{g.get('id') or g.get('data-of')}: text {''.join(t.itertext())!r} is not in its box")
        titles = [e for e in self.root if e.tag in (SVG + "title", SVG + "desc")]
        if len(titles) != 2 or not all((t.text or "").strip() for t in titles):
            self.say("no title or no desc")

    def check_view(self):
        x, y, w, h = (float(v) for v in self.root.get("viewBox").split())
        view = Rect(x, y, w, h)
        everything = list(self.nodes.items()) + [(k, v[0]) for k, v in self.labels.items()]
        everything += [(k, s) for k, e in self.edges.items() for s in segments(e[2]) if s]
        for name, r in everything:
            if not view.contains(r):
                self.say(f"{name} {r} is outside of the viewBox")

    def check_boxes(self):
        for name, r in self.nodes.items():
            group = self.inside[name]
            if group != name and not self.nodes[group].contains(r):
                self.say(f"{name} {r} is not inside of its group {group} {self.nodes[group]}")
        siblings = {}
        for name, group in self.inside.items():
            siblings.setdefault(group if group != name else None, []).append((name, self.nodes[name]))
        for members in siblings.values():
            index = Index(members)
            for name, r in members:
                for other, o in index.near(r):
                    if name < other and r.overlaps(o):
                        self.say(f"{name} {r} lies on {other} {o}")

    def check_labels(self):
        labels = Index([(k, v[0]) for k, v in self.labels.items()])
        boxes = Index(list(self.nodes.items()))
        for name, (r, _) in self.labels.items():
            for other, o in labels.near(r):
                if name < other and r.overlaps(o):
                    self.say(f"label of {name} lies on label of {other}")
            allowed = self.around(self.inside[self.edges[name][0]])
            for other, o in boxes.near(r):
                if other in allowed:
                    if not o.contains(r):
                        self.say(f"label of {name} {r} crosses the border of {other} {o}")
                elif r.overlaps(o):
                    self.say(f"label of {name} {r} lies on {other} {o}")

    def check_edges(self):
        boxes = Index(list(self.nodes.items()))
        labels = Index([(k, v[0]) for k, v in self.labels.items()])
        for name, (source, target, points) in self.edges.items():
            (x1, y1), (x2, y2) = points[0], points[-1]
            a, b = self.nodes[source], self.nodes[target]
            if abs(y1 - a.b) > SLACK or not a.x <= x1 <= a.r:
                self.say(f"{name} does not begin at {source}")
            if abs(y2 - b.y) > SLACK or not b.x <= x2 <= b.r:
                self.say(f"{name} does not end at {target}")
            allowed = self.around(self.inside[source])
            for seg in segments(points):
                if seg is None:
                    self.say(f"{name} is neither horizontal nor vertical")
                    continue
                for other, o in boxes.near(seg):
                    if other not in allowed and hits(o, seg):
                        self.say(f"{name} {seg} passes through {other} {o}")
                for other, o in labels.near(seg):
                    if other != name and hits(o, seg):
                        self.say(f"{name} {seg} passes through the label of {other}")

    def check_kinks(self):
        for name, points in self.corners.items():
            for (x1, y1), (x2, y2) in zip(points, points[1:]):
                if abs(x1 - x2) <= 0.05 and abs(y1 - y2) <= 0.05:
                    self.say(f"{name} has two corners in one place, at {x1:g}")
                if 0.05 < abs(x1 - x2) < KINK:
                    self.say(f"{name} has a kink of {abs(x1 - x2):.1f} at {x1:g}")

    def is_free(self, name, down):
        """Nothing lies on the way down, and no other line is so near that it would be taken for the same."""
        room = Rect(down.x - KINK, down.y, 2 * KINK, down.h)
        allowed = self.around(self.inside[self.edges[name][0]])
        if any(k not in allowed and hits(o, room) for k, o in self.nodes.items()):
            return False
        if any(k != name and hits(o, room) for k, (o, _) in self.labels.items()):
            return False
        others = (s for k, p in self.corners.items() if k != name for s in segments(p))
        return not any(s and s.w == 0 and hits(room, s) for s in others)

    def check_detours(self):
        """An edge without a label that goes beyond both of its ends has a reason: something is in the way."""
        for name, (source, target, _) in self.edges.items():
            a, b, xs = self.nodes[source], self.nodes[target], [x for x, _ in self.corners[name]]
            ends = xs[0], xs[-1]
            aside = max(max(xs) - max(ends), min(ends) - min(xs))
            if name in self.labels or b.y < a.b or aside <= ASIDE:
                continue
            x, right = max(a.x, b.x) + INSET, min(a.r, b.r) - INSET
            while x <= right and not self.is_free(name, Rect(x, a.b, 0, b.y - a.b)):
                x += 2
            if x <= right:
                self.say(f"{name} goes {aside:.0f} aside, but from {source} to {target} straight down is free at {x:g}")

    def check(self, routes=False):
        self.check_texts()
        self.check_view()
        self.check_boxes()
        self.check_labels()
        self.check_edges()
        if routes:
            self.check_kinks()
            self.check_detours()
        return self.problems


def check(text, routes=False):
    return Picture(text).check(routes)
