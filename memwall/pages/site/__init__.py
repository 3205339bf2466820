"""The site of `just site`: the woven pages as they stand in the tree, with figures that answer,
search, sources, and Doxygen's pages of the library beneath.

A page's address is its path, so that a link between two pages leads to the same place in the tree
and in the site. Zensical makes the pages; from a folder, without a server or a network, all works.

| module | is about |
| --- | --- |
| `markdown` | a page as the generator reads it |
| `sources` | source code that pages link to, as pages |
| `contents` | which pages there are, and the navigation |
| `figures` | what the pages draw by themselves |
| `api` | the library's pages, by Doxygen |
| `build` | all of it in `build/site/` |

Pages by hand stand here too, and are in the navigation at once: `teach.md` and `teach-*.md` for
lecturers, all others for contributors and referees.
"""
