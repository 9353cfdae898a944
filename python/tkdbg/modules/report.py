"""triton.testing.perf_report: benchmarks that print a table.

The table prints as pandas prints it, without pandas; ``return_df`` gives a
pandas DataFrame where pandas is installed and a Table otherwise.  Plots are
drawn only where matplotlib is installed.
"""
from __future__ import annotations

import csv
import math
import os
import warnings
from collections.abc import Callable
from typing import Any


class Benchmark:
    """What to measure: x_vals along x_names, one line per line_vals."""

    def __init__(self, x_names: list[str], x_vals: list[Any], line_arg: str,
                 line_vals: list[str], line_names: list[str], plot_name: str,
                 args: dict[str, Any], xlabel: str = "", ylabel: str = "",
                 x_log: bool = False, y_log: bool = False,
                 styles: Any = None) -> None:
        self.x_names = x_names
        self.x_vals = x_vals
        self.line_arg = line_arg
        self.line_vals = line_vals
        self.line_names = line_names
        self.plot_name = plot_name
        self.args = args
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.x_log = x_log
        self.y_log = y_log
        self.styles = styles


# ---- tables -----------------------------------------------------------------

DIGITS = 6


def _format_floats(values):
    """Floats of one column, as pandas formats them."""
    def written(kind):
        return ["NaN" if v != v else format(v, f" .{DIGITS}{kind}")
                for v in values]
    texts = _trim(written("f"))
    finite = [abs(v) for v in values if v == v]
    large = any(v > 1e6 for v in finite)
    small = any(0 < v < 10 ** -DIGITS for v in finite)
    wide = max(map(len, texts), default=0) > DIGITS + 6
    if small or (wide and large):
        texts = written("e")
    return [t.strip() for t in texts]


def _trim(texts):
    """Drops zeros that end every number, but the one after the point."""
    def trimmable():
        numbers = [t for t in texts if "." in t]
        return numbers and all(t.endswith("0") and not t.endswith(".0")
                               for t in numbers)
    while trimmable():
        texts = [t[:-1] if "." in t else t for t in texts]
    return texts


def _format_column(values):
    if all(isinstance(v, float) for v in values):
        return _format_floats(values)
    return [f"{v:.{DIGITS}g}" if isinstance(v, float) else str(v)
            for v in values]


class Table:
    """Named columns of equal length."""

    def __init__(self, columns: list[str], rows: list[Any]) -> None:
        self.columns = list(columns)
        self.rows = [list(r) for r in rows]

    @property
    def shape(self) -> Any:
        return len(self.rows), len(self.columns)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: Any) -> Any:
        at = self.columns.index(name)
        return [row[at] for row in self.rows]

    def to_string(self) -> str:
        """The table as text, one line per row after the header."""
        if not self.rows:
            return ("Empty DataFrame\nColumns: "
                    f"[{', '.join(self.columns)}]\nIndex: []")
        numbers = [str(i) for i in range(len(self.rows))]
        width = max(map(len, numbers))
        lines = [" " * width] + [n.ljust(width) for n in numbers]
        for i, name in enumerate(self.columns):
            values = [r[i] for r in self.rows]
            gap = "  " if isinstance(values[0], (int, float)) else " "
            cells = [name] + _format_column(values)
            widest = max(map(len, cells))
            lines = [line + gap + cell.rjust(widest)
                     for line, cell in zip(lines, cells)]
        return "\n".join(lines)

    __str__ = __repr__ = to_string

    def to_csv(self, path: str, float_format: str = "%.6f",
               index: bool = False) -> None:
        with open(path, "w", newline="") as f:
            writer = csv.writer(f, lineterminator="\n")
            writer.writerow(self.columns)
            for row in self.rows:
                writer.writerow(["" if v != v else float_format % v
                                 if isinstance(v, float) else v
                                 for v in row])

    def to_pandas(self) -> Any:
        """A pandas DataFrame, or this table without pandas."""
        try:
            import pandas
        except ImportError:
            return self
        return pandas.DataFrame(self.rows, columns=self.columns)


def _number_columns(rows):
    """rows with the columns of numbers as floats and None as NaN."""
    def is_number(v):
        return v is None or (isinstance(v, (int, float)) and
                             not isinstance(v, bool))
    columns = list(zip(*rows))
    converted = [[math.nan if v is None else float(v) for v in column]
                 if all(map(is_number, column)) else column
                 for column in columns]
    return [list(row) for row in zip(*converted)]


# ---- running ----------------------------------------------------------------


class Mark:
    """A function with benchmarks; ``run`` measures and prints."""

    def __init__(self, fn: Callable[..., Any], benchmarks: Any) -> None:
        self.fn = fn
        self.benchmarks = benchmarks

    def run(self, show_plots: bool = False, print_data: bool = False,
            save_path: str = "", return_df: bool = False, **kwargs: Any) -> Any:
        """Runs every benchmark; keywords go to the function.

        return_df: gives the table, or the list of tables.
        """
        single = isinstance(self.benchmarks, Benchmark)
        benchmarks = [self.benchmarks] if single else self.benchmarks
        if save_path:
            os.makedirs(save_path, exist_ok=True)
        tables = [self._run(b, save_path, show_plots, print_data, **kwargs)
                  for b in benchmarks]
        if save_path:
            _write_page(save_path, benchmarks)
        if not return_df:
            return None
        frames = [t.to_pandas() for t in tables]
        return frames[0] if single else frames

    def _run(self, bench, save_path, show_plots, print_data, diff_col=False,
             save_precision=6, **kwargs):
        names = list(bench.x_names)
        lines = [f"{n} ({bench.ylabel})" for n in bench.line_names]
        full = _number_columns([self._row(bench, names, x, kwargs)
                                for x in bench.x_vals])
        if bench.plot_name and (show_plots or save_path):
            _plot(bench, names, lines, full, show_plots, save_path)
        shown = len(names) + len(lines)
        table = Table(names + lines, [row[:shown] for row in full])
        if diff_col and len(table.columns) == 2:
            table.columns.append("Diff")
            for row in table.rows:
                row.append(row[1] - row[0])
        if print_data:
            print(bench.plot_name + ":")
            print(table.to_string())
        if save_path:
            table.to_csv(os.path.join(save_path, f"{bench.plot_name}.csv"),
                         float_format=f"%.{save_precision}f")
        return table

    def _row(self, bench, names, x, kwargs):
        """x values, then means, minima and maxima of every line."""
        if not isinstance(x, (list, tuple)):
            x = [x for _ in names]
        if len(x) != len(names):
            raise ValueError(f"Expected {len(names)} values, got {x}")
        means, lows, highs = [], [], []
        for value in bench.line_vals:
            result = self.fn(**dict(zip(names, x)),
                             **{bench.line_arg: value}, **bench.args,
                             **kwargs)
            try:
                mean, low, high = result
            except TypeError:
                mean, low, high = result, None, None
            means.append(mean)
            lows.append(low)
            highs.append(high)
        return list(x) + means + lows + highs


def perf_report(benchmarks: Any) -> Callable[..., Any]:
    """Decorator: gives a function benchmarks, one or a list."""
    return lambda fn: Mark(fn, benchmarks)


def _write_page(folder, benchmarks):
    with open(os.path.join(folder, "results.html"), "w") as page:
        page.write("<html><body>\n")
        for bench in benchmarks:
            page.write(f'<image src="{bench.plot_name}.png"/>\n')
        page.write("</body></html>\n")


def _plot(bench, names, lines, rows, show, folder):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        warnings.warn("matplotlib is not installed: no plot of "
                      f"{bench.plot_name}", stacklevel=4)
        return
    plt.figure()
    axes = plt.subplot()
    xs = [row[0] for row in rows]
    first, count = len(names), len(lines)
    for i, label in enumerate(lines):
        colour, style = (bench.styles[i] if bench.styles else (None, None))
        mean, low, high = ([row[first + part * count + i] for row in rows]
                           for part in range(3))
        axes.plot(xs, mean, label=label, color=colour, ls=style)
        if all(v == v for v in low + high):
            axes.fill_between(xs, low, high, alpha=0.15, color=colour)
    axes.legend()
    axes.set_xlabel(bench.xlabel or names[0])
    axes.set_ylabel(bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    if show:
        plt.show()
    if folder:
        plt.savefig(os.path.join(folder, f"{bench.plot_name}.png"))
