"""Write the catalogue and the lock of the structures as C++ strings: programs carry them along."""

import sys
from pathlib import Path

DELIMITER = "embedded"


def raw_string(path: Path) -> str:
    """A C++ raw string literal with the text of `path`."""
    text = path.read_text(encoding="utf-8")
    if f'){DELIMITER}"' in text:
        sys.exit(f'{path}: contains ){DELIMITER}", which ends the C++ string it is embedded in')
    return f'R"{DELIMITER}({text}){DELIMITER}"'


def main() -> None:
    """Called by the build with the two texts and the file to write."""
    catalogue, lock, output = (Path(argument) for argument in sys.argv[1:])
    output.write_text(
        '#include "sparse/catalogue/catalogue_embedded.hpp"\n\n'
        "namespace sparse {\n\n"
        f"std::string_view const embedded_catalogue = {raw_string(catalogue)};\n\n"
        f"std::string_view const embedded_structures_lock = {raw_string(lock)};\n\n"
        "} // namespace sparse\n",
        encoding="utf-8",
    )


main()
