"""Turns the output of `cargo metadata` into a bill of materials in the format CycloneDX 1.5: each package in the
program, with its version and licence.

    cargo metadata --format-version 1 | python3 packaging/materials.py VERSION
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main(version: str) -> None:
    metadata = json.load(sys.stdin)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    # What is linked into the program: dependencies of tests and of build scripts are not.
    root = metadata["resolve"]["root"]
    linked, waiting = set(), [root]
    while waiting:
        package = waiting.pop()
        if package not in linked:
            linked.add(package)
            deps = nodes[package]["deps"]
            waiting += [dep["pkg"] for dep in deps if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    component = packages[root]
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**told(component), "type": "application", "version": version}},
        "components": sorted((told(packages[each]) for each in linked - {root}), key=lambda each: each["bom-ref"]),
        "dependencies": [
            {"ref": ref(packages[each]), "dependsOn": sorted(ref(packages[dep["pkg"]]) for dep in nodes[each]["deps"]
                                                             if dep["pkg"] in linked)}
            for each in sorted(linked, key=lambda each: ref(packages[each]))
        ],
    }
    json.dump(bill, sys.stdout, indent=1, ensure_ascii=False)
    print()


def ref(package: dict[str, Any]) -> str:
    return f"pkg:cargo/{package['name']}@{package['version']}"


def told(package: dict[str, Any]) -> dict[str, Any]:
    licence = [{"expression": package["license"].replace("/", " OR ")}] if package["license"] else []
    return {
        "type": "library",
        "bom-ref": ref(package),
        "name": package["name"],
        "version": package["version"],
        "purl": ref(package),
        "licenses": licence,
    }


if __name__ == "__main__":
    main(sys.argv[1])
