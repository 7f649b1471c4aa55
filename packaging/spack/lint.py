# SPDX-License-Identifier: BSD-3-Clause
"""Compares Spack's recipe with the tree and with Spack's packages.

lint.py TOP PACKAGES: PACKAGES is a tree of github.com/spack/spack-packages. Prints what
is wrong, exit status 1; else what was compared.
"""

import ast
import pathlib
import re
import sys


def calls(tree, name):
    """The calls of a directive: their first argument and those with names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
            words = {k.arg: ast.literal_eval(k.value) for k in node.keywords}
            yield ast.literal_eval(node.args[0]), words


def provided(packages):
    names = set()
    for file in packages.glob("*/package.py"):
        names.update(re.findall(r'provides\(\s*"([a-z0-9-]+)', file.read_text(errors="replace")))
    return names


def lacks(packages, virtual, spec):
    """What is wrong with a package that is required, or nothing."""
    name, _, version = spec.partition("@")
    if name in virtual:
        return ""
    file = packages / name.replace("-", "_") / "package.py"
    if not file.is_file():
        return f"{name}: Spack has no such package"
    least = version.rstrip(":")
    there = re.findall(r'version\(\s*"(\d[\d.]*)', file.read_text())
    number = [int(part) for part in least.split(".") if part]
    if not any([int(part) for part in v.split(".") if part] >= number for v in there):
        return f"{spec}: Spack has no such version"
    return ""


def main(top, spack):
    packages = spack / "repos" / "spack_repo" / "builtin" / "packages"
    virtual = provided(packages)
    tree = ast.parse((top / "packaging" / "spack" / "package.py").read_text())
    required = [spec for spec, _ in calls(tree, "depends_on")]
    wrong = [text for text in (lacks(packages, virtual, spec) for spec in required) if text]
    variants = [name for name, _ in calls(tree, "variant")]
    configure = (top / "configure.ac").read_text()
    for name in variants:
        if f"AC_ARG_WITH([{name}]" not in configure:
            wrong.append(f"{name}: configure has no such option")
    for _, words in calls(tree, "depends_on"):
        when = words.get("when", "")
        if when.startswith("+") and when[1:] not in variants:
            wrong.append(f"{when}: no such variant")
    version = re.search(r"AC_INIT\(\[pems\], \[([^]]*)", configure)[1]
    if f"pems-{version}.tar.xz" not in ast.unparse(tree):
        wrong.append(f"its url is not that of {version}")
    print("\n".join(wrong or [f"{len(required)} packages, {len(variants)} variants"]))
    return 1 if wrong or not required else 0


sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
