"""Random tables sorted by pems-sort and, beside it, by Python.

  csv_fuzz.py COUNT SEED PEMS-SORT DIR

Python's csv module says what the columns are; which bytes are a row's, and the
order, are worked out here. Files are written to DIR."""
import csv
import functools
import random
import re
import subprocess
import sys

csv.field_size_limit(1 << 30)


def rows_of(text, separator, quotes):
    """Each row's bytes (as latin-1) without its end, and its columns."""
    lines = text.split("\n")
    lines = [line + "\n" for line in lines[:-1]] + lines[-1:] * bool(lines[-1])
    reader = csv.reader(lines, delimiter=separator,
                        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)
    rows, at = [], 0
    for columns in reader:
        raw = "".join(lines[at:reader.line_num])
        rows.append((raw[:-1] if raw.endswith("\n") else raw, columns or [""]))
        at = reader.line_num
    return rows


def number(text):
    """As -n has it: the decimal number at the beginning, or 0."""
    digits = re.match(r"[ \t\n]*(-?[0-9]*\.?[0-9]*)", text).group(1)
    return float(digits) if re.search("[0-9]", digits) else 0.0


def general(text):
    """As -g has it: what is no number comes first."""
    digits = re.match(r"[ \t\n]*([-+]?([0-9]+\.?[0-9]*|\.[0-9]+)"
                      r"([eE][-+]?[0-9]+)?)", text)
    return (1, float(digits.group(1))) if digits else (0, 0.0)


def value(text, options):
    if "n" in options:
        return number(text)
    if "g" in options:
        return general(text)
    if "b" in options:
        text = text.lstrip(" \t\n")
    return text.upper() if "f" in options else text


def sorting_key(keys, everything):
    """Keys: (column, options). None: all columns, with `everything`."""
    def compare(a, b):
        if keys is None:
            x = [value(c, everything) for c in a[1]]
            y = [value(c, everything) for c in b[1]]
            order = (x > y) - (x < y)
            return -order if "r" in everything else order
        for column, options in keys:
            x, y = (value(row[1][column] if column < len(row[1]) else "",
                          options) for row in (a, b))
            if x != y:
                return -1 if (x < y) != ("r" in options) else 1
        return 0
    return functools.cmp_to_key(compare)


def wanted(files, separator, quotes, header, keys, everything, unique):
    rows, first = [], None
    for text in files:
        more = rows_of(text, separator, quotes)
        if header and more:
            first = first if first is not None else more[0][0]
            more = more[1:]
        rows += more
    key = sorting_key(keys, everything)
    rows.sort(key=key)
    if unique:
        rows = [r for i, r in enumerate(rows)
                if i == 0 or key(rows[i - 1]) != key(r)]
    lines = [first] * (first is not None) + [r[0] for r in rows]
    return "".join(line + "\n" for line in lines)


# --- random tables ---

def random_column(rng, separator, quotes):
    kind = rng.randrange(6)
    if kind < 2:
        text = str(rng.choice([0, 1, -1, 7, 10, 12.5, -3.25, 1e3, 99999]))
    elif kind == 2:
        text = rng.choice(["", " ", "1e2", "-1e-3", "x", ".5", "-", "007", " 9"])
    else:
        text = "".join(rng.choice("abAB1 .-" + separator * quotes)
                       for _ in range(rng.randrange(5)))
    if not quotes:
        return text.replace(separator, "") + rng.choice(["", '"', '"x'])
    kind = rng.randrange(5)
    if kind == 0:
        text += rng.choice(["\n", '"', separator, "\r\n", '""', "\n\n"])
    if kind == 1 or re.search('["\n' + re.escape(separator) + "]", text):
        quoted = '"' + text.replace('"', '""') + '"'
        return quoted + rng.choice(["", "", "", "z", 'z"', " "])
    return text + rng.choice(["", "", "", 'x"', 'x"y'])


def random_row(rng, separator, quotes, columns):
    n = columns if rng.randrange(8) else rng.randrange(columns + 2)
    return separator.join(random_column(rng, separator, quotes)
                          for _ in range(n))


def random_table(rng, separator, quotes, names, rows):
    end = rng.choice(["\n", "\n", "\r\n"])
    lines = [separator.join(names)] * bool(names)
    lines += [random_row(rng, separator, quotes, 4) for _ in range(rows)]
    text = "".join(line + end for line in lines)
    return text[:-len(end)] if text and rng.randrange(4) == 0 else text


NAMES = ["id", 'the "name"', "a,b;c\td", "x:n"]


def quoted(name, separator, quotes):
    if not quotes:
        return name.replace("\t", " ").replace('"', "'")
    return '"' + name.replace('"', '""') + '"'


def random_keys(rng, names):
    """Keys, and how they are written for pems-sort."""
    keys, written = [], []
    for _ in range(rng.randrange(1, 4)):
        options = "".join(o for o in rng.choice(["", "n", "g", "f", "b", "bf"]))
        options += rng.choice(["", "r"])
        column = rng.randrange(4)
        form = rng.randrange(3)
        if names and form == 0:
            text = '"' + names[column].replace('"', '""') + '"'
            text += ":" + options if options else ""
        elif form == 1:
            text = f"{column + 1}{options}"
        else:
            text = f"{column + 1}:{options}"
        keys.append((column, options))
        written += ["-k", text]
    return keys, written


def one(rng, sort, folder, number_of_case, rows):
    quotes = rng.randrange(3) > 0
    separator = rng.choice(",,;|") if quotes else "\t"
    options = ["--csv", "-t", separator] if quotes else ["--tsv"]
    header = rng.randrange(2)
    plain = [n if quotes else quoted(n, separator, False) for n in NAMES]
    names = [quoted(n, separator, quotes) for n in NAMES] if header else []
    files = [random_table(rng, separator, quotes, names,
                          rng.randrange(rows + 1) if i else rows)
             for i in range(rng.choice([1, 1, 2, 3]))]
    everything, unique = "", rng.randrange(4) == 0
    if rng.randrange(4):
        keys, written = random_keys(rng, plain if header else [])
    else:
        keys, written = None, []
        everything = rng.choice(["", "r", "n", "fr"])
        options += [f"-{everything}"] if everything else []
    options += ["--header"] * header + ["-u"] * unique + written
    options += ["-S1M", f"--parallel={rng.randrange(1, 4)}"]
    paths = []
    for i, text in enumerate(files):
        paths.append(f"{folder}/in{i}")
        with open(paths[-1], "wb") as f:
            f.write(text.encode("latin-1"))
    want = wanted(files, separator, quotes, header, keys, everything,
                  unique).encode("latin-1")
    given = subprocess.run([sort] + options + paths, capture_output=True,
                           check=False)
    if given.returncode or given.stderr or given.stdout != want:
        with open(f"{folder}/want", "wb") as f:
            f.write(want)
        print(f"case {number_of_case}: {options}: status {given.returncode}: "
              f"{given.stderr.decode()}", file=sys.stderr)
        print(f"wanted {want[:400]!r}\ngot    {given.stdout[:400]!r}",
              file=sys.stderr)
        return False
    check = subprocess.run([sort, "-c"] + options + ["-"], input=given.stdout,
                           capture_output=True, check=False)
    if check.returncode:
        print(f"case {number_of_case}: {options}: -c: {check.stderr.decode()}",
              file=sys.stderr)
    return check.returncode == 0


def main():
    count, seed, sort, folder = sys.argv[1:]
    failures = 0
    for i in range(int(count)):
        rng = random.Random(int(seed) * 1000000 + i)
        rows = 40000 if i % 100 == 99 else rng.choice([0, 1, 2, 5, 20, 200])
        failures += not one(rng, sort, folder, i, rows)
        if failures > 5:
            break
    print(f"{count} random tables, {failures} failures")
    return failures > 0


sys.exit(main())
