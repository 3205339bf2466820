"""Whose a hand-in is: by the roster, and by how Moodle and Canvas name what they export.

Moodle, "Download all submissions": a folder `FULL NAME_PARTICIPANT_assignsubmission_file_`, or a
file whose name begins so. Canvas, "Download Submissions": a file
`LASTFIRST_[LATE_]USER_SUBMISSION_FILE`, of which LASTFIRST has lower-case letters alone.
"""

import re
import unicodedata
from collections.abc import Sequence

from memwall.record.course import Person
from memwall.record.errors import UserError

MOODLE = re.compile(r"(?P<name>.+)_[0-9]+_assignsubmission_file(?:_.*)?")
CANVAS = re.compile(r"(?P<name>[^\W_]+)_(?P<late>LATE_)?(?P<user>[0-9]+)_[0-9]+_.+")


def whose(label: str, people: Sequence[Person]) -> Person:
    """The person, or one of the group, that a hand-in belongs to; raises `UserError` where that is
    nobody, or cannot be told."""
    attempt = re.sub(r"@[0-9]+$", "", label)
    found = [person for person in people
             if attempt in (person.key, person.number, person.group) and attempt]
    moodle, canvas = MOODLE.fullmatch(label), CANVAS.fullmatch(label)
    if not found and moodle and (letters := _letters(moodle["name"])):
        found = [person for person in people
                 if letters in (_letters(person.name), _letters(person.group))]
    if not found and canvas:
        found = ([person for person in people if person.canvas == canvas["user"]]
                 or [person for person in people if not person.canvas
                     and _letters(canvas["name"]) in _last_first(person)])
    teams = {person.team for person in found}
    if len(teams) == 1:
        return found[0]
    if not teams:
        raise UserError(f"{label}: nobody of the roster, expected a key, a number, a group, or the"
                        " name of an export of Moodle or Canvas")
    raise UserError(f"{label}: found {', '.join(person.key for person in found)} in the roster:"
                    " name the file by a key")


def is_late(label: str) -> bool:
    """Whether Canvas says so."""
    found = CANVAS.fullmatch(label)
    return found is not None and found["late"] is not None


def _letters(name: str) -> str:
    """Letters and digits alone, without accents, in lower case."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in plain if letter.isalnum())


def _last_first(person: Person) -> set[str]:
    """What Canvas may have made of a name: last names first, and there may be several."""
    words = person.name.split()
    return {_letters("".join(words[k:] + words[:k])) for k in range(len(words))}
