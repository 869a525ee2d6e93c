"""Makes a wheel of the program: the command `mumakil`, and the module that it writes with `mumakil py`.

    python3 packaging/wheel.py PROGRAM VERSION PROCESSOR FOLDER
"""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

# The bytes of a wheel depend on its content alone.
WHEN = (2026, 1, 1, 0, 0, 0)
REGULAR, EXECUTABLE = 0o100644 << 16, 0o100755 << 16


def main(program: Path, version: str, processor: str, folder: Path) -> None:
    module = subprocess.run([program, "py", "-o", "-"], check=True, capture_output=True).stdout
    info, data = f"mumakil-{version}.dist-info", f"mumakil-{version}.data"
    tag = f"py3-none-manylinux2014_{processor}"
    home = re.search(r'^repository = "(.*)"', Path("Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]
    metadata = f"""\
Metadata-Version: 2.4
Name: mumakil
Version: {version}
Summary: An emulator of a Hadoop MapReduce v1 cluster
License-Expression: MIT
License-File: LICENSE
Keywords: hadoop,mapreduce,yarn,scheduler,simulation
Classifier: Development Status :: 4 - Beta
Classifier: Environment :: Console
Classifier: Intended Audience :: Education
Classifier: Intended Audience :: Science/Research
Classifier: Intended Audience :: System Administrators
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Programming Language :: Rust
Classifier: Topic :: Scientific/Engineering
Classifier: Topic :: System :: Clustering
Classifier: Typing :: Typed
Project-URL: Source, {home}
Project-URL: Documentation, https://docs.rs/mumakil
Project-URL: Changes, {home}/blob/main/CHANGELOG.md
Project-URL: Issues, {home}/issues
Requires-Python: >=3.10
Provides-Extra: notebook
Requires-Dist: pandas; extra == "notebook"
Requires-Dist: matplotlib; extra == "notebook"
Requires-Dist: notebook; extra == "notebook"
Provides-Extra: pandas
Requires-Dist: pandas; extra == "pandas"
Provides-Extra: polars
Requires-Dist: polars; extra == "polars"
Description-Content-Type: text/markdown

{Path("README.md").read_text(encoding="utf-8")}"""
    wheel = f"Wheel-Version: 1.0\nGenerator: mumakil\nRoot-Is-Purelib: false\nTag: {tag}\n"
    version_line = f'\n__version__ = "{version}"\n'.encode()
    files = {
        "mumakil/__init__.py": module + version_line,
        # Tells type checkers that the module has types.
        "mumakil/py.typed": b"",
        f"{data}/scripts/mumakil": program.read_bytes(),
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": wheel.encode(),
        f"{info}/licenses/LICENSE": Path("LICENSE").read_bytes(),
    }
    record = f"{info}/RECORD"
    lines = [f"{name},sha256={digest(content)},{len(content)}" for name, content in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    with zipfile.ZipFile(folder / f"mumakil-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, WHEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = EXECUTABLE if "/scripts/" in name else REGULAR
            target.writestr(entry, content)


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    _, program, version, processor, folder = sys.argv
    main(Path(program), version, processor, Path(folder))
