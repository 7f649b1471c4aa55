# SPDX-License-Identifier: BSD-3-Clause
"""Renders the conda recipe as rattler-build does, and compares it with the tree.

lint.py TOP: prints what is wrong, exit status 1; else the commands to test, one a line.
"""

import pathlib
import re
import sys

from rattler_build import Stage0Recipe, VariantConfig


def main(top):
    folder = top / "packaging" / "conda"
    wrong = []
    # Raises where the recipe is none.
    stage0 = Stage0Recipe.from_file(str(folder / "recipe.yaml"))
    variants = stage0.render(VariantConfig())
    if len(variants) != 1:
        wrong.append(f"{len(variants)} packages instead of one")
    recipe = variants[0].recipe() if callable(variants[0].recipe) else variants[0].recipe
    version = re.search(r"AC_INIT\(\[pems\], \[([^]]*)", (top / "configure.ac").read_text())[1]
    if str(recipe.package.version) != version:
        wrong.append(f"version {recipe.package.version}, configure.ac has {version}")
    if not recipe.requirements.host:
        wrong.append("nothing is required")
    whole = stage0.to_dict()
    files = [top / name for name in whole["about"]["license_file"]]
    files += [folder / name for name in whole["build"]["script"]["content"]]
    wrong += [f"no {file}" for file in files if not file.is_file()]
    tested = [line for test in whole["tests"] for line in test["script"]["content"]]
    installed = re.findall(r"^usr/bin/(\S+)", (top / "debian" / "pems.install").read_text(), re.M)
    for command in installed:
        if f"{command} --version" not in tested:
            wrong.append(f"{command} is not tested")
    print("\n".join(wrong or tested))
    return 1 if wrong else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
