"""Draws docs/performance/*.svg from the JSON of `make bench`, and writes the tables of docs/performance.md.

    bench/charts.py [BENCH.JSON [DIRECTORY]]
"""

import html
import json
import math
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
WIDTH, HEIGHT, LEFT, RIGHT, UP, DOWN = 640, 320, 70, 20, 40, 60
COLOURS = ("#4477aa", "#cc6677", "#228833", "#ccbb44")
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"


class Drawing:
    """An SVG file: text, lines and rectangles."""

    def __init__(self, title):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
                      f'font-size="12" role="img" aria-label="{html.escape(title)}">',
                      f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
        self.text(WIDTH / 2, 20, title, anchor="middle", size=14)

    def text(self, x, y, words, anchor="start", size=12):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{html.escape(words)}</text>')

    def line(self, points, colour, width=1):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>')

    def bar(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>')

    def legend(self, names):
        for i, name in enumerate(names):
            x = LEFT + i * (WIDTH - LEFT - RIGHT) / len(names)
            self.bar(x, HEIGHT - 18, 10, 10, COLOURS[i % len(COLOURS)])
            self.text(x + 14, HEIGHT - 9, name)

    def scale(self, ticks, place):
        for tick in ticks:
            y = place(tick)
            self.line([(LEFT, y), (WIDTH - RIGHT, y)], "#dddddd")
            self.text(LEFT - 6, y + 4, f"{tick:g}", anchor="end")

    def write(self, path):
        path.write_text("\n".join([*self.parts, "</svg>"]) + "\n", encoding="utf-8")


def rounded(value):
    """The next of 1, 2, 5 times a power of ten."""
    power = 10 ** (len(str(int(value))) - 1)
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)


def bars(path, title, groups, names, unit):
    """groups: (label, one value for each name)."""
    drawing = Drawing(f"{title} ({unit})")
    top = rounded(max(value for _, values in groups for value in values))
    room = HEIGHT - UP - DOWN

    def place(value):
        return HEIGHT - DOWN - value / top * room

    drawing.scale([top * i / 4 for i in range(5)], place)
    wide = (WIDTH - LEFT - RIGHT) / len(groups)
    for i, (label, values) in enumerate(groups):
        for j, value in enumerate(values):
            each = wide * 0.8 / len(values)
            x = LEFT + wide * (i + 0.1) + each * j
            drawing.bar(x, place(value), each * 0.9, value / top * room, COLOURS[j % len(COLOURS)])
            drawing.text(x + each * 0.45, place(value) - 4, number(value), anchor="middle", size=10)
        drawing.text(LEFT + wide * (i + 0.5), HEIGHT - DOWN + 16, label, anchor="middle")
    drawing.legend(names)
    drawing.write(path)


def curves(path, title, points, lines, unit):
    """Both axes are logarithmic in effect: the points are powers of ten, and so are the ticks."""
    drawing = Drawing(f"{title} ({unit})")
    values = [value for _, ys in lines for value in ys]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def place(value):
        return HEIGHT - DOWN - (math.log10(value) - low) / (high - low) * (HEIGHT - UP - DOWN)

    drawing.scale([10.0 ** power for power in range(low, high + 1)], place)
    step = (WIDTH - LEFT - RIGHT) / len(points)
    for i, (_, ys) in enumerate(lines):
        drawing.line([(LEFT + step * (j + 0.5), place(y)) for j, y in enumerate(ys)], COLOURS[i % len(COLOURS)], 2)
    for j, point in enumerate(points):
        drawing.text(LEFT + step * (j + 0.5), HEIGHT - DOWN + 16, point, anchor="middle")
    drawing.legend([name for name, _ in lines])
    drawing.write(path)


def draw(document, directory):
    names = []
    for processors, sides in document["growth"].get("threads", {}).items():
        counts = list(next(iter(sides.values())))
        name = f"threads-{processors}.svg"
        bars(directory / name, f"Runs a second on {'one processor' if processors == '1' else processors + ' processors'}",
             [("1 thread" if count == "1" else f"{count} threads", [sides[side][count] for side in sides]) for count in counts], list(sides), "runs/s")
        names.append(name)
    for side, widths in document["growth"].get("latency", {}).items():
        name = f"latency-{side}.svg"
        curves(directory / name, f"From start to end, jail {side}, by the number in flight", list(widths),
               [(point, [values[point] for values in widths.values()]) for point in ("p50", "p90", "p99", "p99.9")], "ms")
        names.append(name)
    if document["peers"]:
        name = "peers.svg"
        bars(directory / name, "One run of true", [(peer, [us / 1000]) for peer, us in document["peers"].items()], ["one run"], "ms")
        names.append(name)
    return names


def number(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def table(rows, requirements):
    lines = ["| | what | figure | quartiles | bound | holds | goal |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        if row["requirement"] not in requirements:
            continue
        bound = (f"≤ {row['at_most']:g}" if row["at_most"] is not None else
                 f"≥ {row['at_least']:g}" if row["at_least"] is not None else "")
        holds = {True: "yes", False: "**no**", None: ""}[row["holds"]]
        goal = "" if row["goal"] is None else f"{row['goal']:g}, {'reached' if row['reached'] else 'not reached'}"
        lines.append(f"| {row['requirement']} | {row['what']} | {number(row['figure'])} {row['unit']} | "
                     f"{number(row['low'])} to {number(row['high'])} | {bound} | {holds} | {goal} |")
    return lines


def figures(document, names):
    machine = document["machine"]
    bounded = sorted({row["requirement"] for row in document["rows"] if row["requirement"].startswith("R")},
                     key=lambda name: int(name[1:]))
    lines = [BEGIN, "", f"Measured on a virtual machine with {machine['processors']} processors, Linux "
             f"{'.'.join(machine['kernel'].split('.')[:2])}, Python {machine['python']}"
             + (", in the quick form, which is to try the bench and not to judge by." if document["quick"] else "."), ""]
    if machine["load"][0] > 0.5:
        lines += [f"The machine was not idle (load {machine['load'][0]:.1f}): the figures are worse than they are.", ""]
    for name in names:
        lines += [f"![{name[:-4]}](performance/{name})", ""]
    for title, wanted in (("Bounds", bounded), ("Growth", ["growth"]), ("Peers", ["peer"])):
        rows = table(document["rows"], wanted)
        if len(rows) > 2:
            lines += [f"### {title}", "", *rows, ""]
    lines += [f"- {note}" for note in document["notes"]]
    return "\n".join([*lines, "", END])


def main():
    source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else TOP / "build/bench.json")
    docs = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else TOP / "docs")
    document = json.loads(source.read_text(encoding="utf-8"))
    (docs / "performance").mkdir(exist_ok=True)
    names = draw(document, docs / "performance")
    page = docs / "performance.md"
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    page.write_text(before + figures(document, names) + after, encoding="utf-8")


if __name__ == "__main__":
    main()
