# SPDX-License-Identifier: BSD-3-Clause
"""Builds the conda recipe by rattler-build where no channel of conda can be reached.

build.py TREE OUT: TREE is the unpacked archive. What the recipe requires are empty
packages in a channel of our own (OUT/channel): compilers and libraries are the
system's. The package is built, and its tests run where only it is installed. Prints
its path; raises where something fails.
"""

import hashlib
import json
import os
import pathlib
import sys

from rattler_build import (
    RenderConfig,
    Stage0Recipe,
    ToolConfiguration,
    VariantConfig,
    assemble_package,
)
from rattler_build.tool_config import PlatformConfig

PLATFORM = "linux-64"


def stand_in(name, folder):
    """An empty package; what the channel's index says of it."""
    folder.mkdir(parents=True, exist_ok=True)
    made = assemble_package(
        name=name,
        version="0",
        target_platform=PLATFORM,
        build_string="0",
        output_dir=folder,
        files=[],
        license="0BSD",
        summary="stands for that of the system",
    )
    path = pathlib.Path(made.path)
    entry = {
        "name": name,
        "version": "0",
        "build": "0",
        "build_number": 0,
        "depends": [],
        "md5": hashlib.md5(path.read_bytes()).hexdigest(),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "subdir": PLATFORM,
        "size": path.stat().st_size,
    }
    return path.name, entry


def make_channel(channel, names):
    index = dict(stand_in(name, channel / PLATFORM) for name in names)
    for subdir, packages in ((PLATFORM, index), ("noarch", {})):
        (channel / subdir).mkdir(parents=True, exist_ok=True)
        (channel / subdir / "repodata.json").write_text(
            json.dumps(
                {
                    "info": {"subdir": subdir},
                    "packages": {},
                    "packages.conda": packages,
                    "repodata_version": 1,
                }
            )
        )


def main(tree, out):
    platform = PlatformConfig(target_platform=PLATFORM)
    stage0 = Stage0Recipe.from_file(str(tree / "packaging" / "conda" / "recipe.yaml"))
    variant = stage0.render(VariantConfig(), RenderConfig(platform=platform))[0]
    recipe = variant.recipe() if callable(variant.recipe) else variant.recipe
    wanted = recipe.requirements
    make_channel(out / "channel", sorted({*wanted.build, *wanted.host, *wanted.run}))
    result = variant.run_build(
        tool_config=ToolConfiguration(test_strategy="native", use_sharded=False),
        output_dir=out / "made",
        channels=[(out / "channel").as_uri()],
    )
    print("\n".join(result.log[-40:]), file=sys.stderr)
    print(os.path.relpath(result.packages[0], out))


main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
