"""`study` and `try` of a bundle: what draws pages is not there, so a checkout draws them."""

import sys

from study import commands

if __name__ == "__main__":
    sys.exit(commands.main("", lambda workspace, file: (
        f"{workspace.shown(file)}: a page is made of it in a checkout: just study {file.name}")))
