"""svg.py - curves as an SVG picture, without a plotting library.

In: a title, the axes' names, name → [(x, y)]. Out: a file. Method: x linear,
or by its logarithm where it spans more than 1 : 32; y from 0.
"""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, LABELS = 900, 500, 80, 170, 40, 55, 8
COLOURS = ("#1f77b4", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#17becf", "#7f7f7f", "#bcbd22", "#e377c2", "#aec7e8")
STYLES = {"fsc": 'stroke="#d62728" stroke-width="2.6"',
          "copy": 'stroke="black" stroke-width="1.6" stroke-dasharray="6 3"'}


def round_up(x):
    """1, 2 or 5 times a power of ten: the least that is not below x."""
    power = 10.0 ** math.floor(math.log10(x))
    return power * next(m for m in (1, 2, 5, 10) if x <= m * power * (1 + 1e-9))


class Scale:
    """From numbers to places in the picture."""

    def __init__(self, curves):
        xs = [x for points in curves.values() for x, _ in points]
        self.is_log = min(xs) > 0 and max(xs) > 32 * min(xs)
        self.low, self.high = self.place(min(xs)), self.place(max(xs))
        top = max([y for points in curves.values() for _, y in points] + [1e-9])
        self.step = round_up(top / LABELS)
        self.top = math.ceil(top / self.step) * self.step

    def place(self, x):
        return math.log2(x) if self.is_log else x

    def x(self, x):
        share = (self.place(x) - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, y):
        return HEIGHT - BOTTOM - y / self.top * (HEIGHT - TOP - BOTTOM)

    def x_labels(self):
        span = self.high - self.low
        step = max(1, math.ceil(span / LABELS)) if self.is_log else round_up(span / LABELS) if span else 1
        first = math.ceil(self.low / step) * step
        places = [first + i * step for i in range(int((self.high - first) / step + 1e-9) + 1)]
        return [2**p if self.is_log else p for p in places]


def text(x, y, anchor, words):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(str(words))}</text>'


def grid(s):
    out = []
    for i in range(round(s.top / s.step) + 1):
        y = s.y(i * s.step)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(text(LEFT - 8, y + 4, "end", f"{i * s.step:g}"))
    return out + [text(s.x(x), HEIGHT - BOTTOM + 18, "middle", f"{x:.0f}") for x in s.x_labels()]


def write(path, title, x_name, y_name, curves):
    s = Scale(curves)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
           'font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', text(LEFT, TOP - 16, "start", title), *grid(s),
           text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "middle", x_name), text(LEFT, TOP - 2, "end", y_name)]
    for i, (name, points) in enumerate(curves.items()):
        style = STYLES.get(name, f'stroke="{COLOURS[i % len(COLOURS)]}" stroke-width="1.6"')
        places = " ".join(f"{s.x(x):.1f},{s.y(y):.1f}" for x, y in sorted(points))
        y = TOP + 18 * i
        out.append(f'<polyline fill="none" {style} points="{places}"/>')
        out.append(f'<line x1="{WIDTH - RIGHT + 12}" y1="{y}" x2="{WIDTH - RIGHT + 34}" y2="{y}" {style}/>')
        out.append(text(WIDTH - RIGHT + 40, y + 4, "start", name))
    with open(path, "w") as f:
        f.write("\n".join(out) + "\n</svg>\n")
