"""`python -m study COMMAND` in a checkout: every study ends as a page."""

import sys

from study import commands, page

if __name__ == "__main__":
    sys.exit(commands.main("just ", lambda workspace, file: workspace.shown(page.draw(file))))
