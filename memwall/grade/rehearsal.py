"""Made-up classes, graded as real ones would be: whether a machine is good for grading, how long a
hand-in takes there, and what a lecturer and students will see."""

import io
import re
import statistics
import zipfile
from collections.abc import Sequence
from pathlib import Path

from memwall.grade.grading import Record
from memwall.record import files
from memwall.record.kits import GradeError, Kit

LAST_TERM = ("p < ", "p + 1 < ")  # of each sum is left out
SEMICOLON = ("sum = 0;", "sum = 0")  # is missing


#: A class of twenty: key, name, number, group.
TWENTY = """key,name,number,group
ada,Ada Lovelace,1001,
ben,Ben Okri,1002,
chen,Chen Wei,1003,
dora,Dora Klein,1004,
emil,Emil Vogt,1005,
finn,Finn Berg,1006,
gina,Gina Russo,1007,
hana,Hana Sato,1008,
ivan,Ivan Petrov,1009,
jana,Jana Horak,1010,north
kofi,Kofi Mensah,1011,north
leila,Leila Haddad,1012,
mia,Mia Jensen,1013,
noor,Noor Khan,1014,
omar,Omar Aziz,1015,
pia,Pia Lund,1016,
quin,Quin Murphy,1017,
rosa,Rosa Silva,1018,
sven,Sven Dahl,1019,
tara,Tara Singh,1020,
"""
CLASS = """title = "A made-up class"
late_days = 1   # that each may use
late_cost = 10  # per cent for each further one

[[assignment]]
name = "first"
"""
MARKS = """assignment,student,what,value,reason
first,tara,points,-5,your name is missing in the file
first,ivan,comment,,a good first step: where does your loop read from memory twice?
"""


def text_of(kit: Kit, name: str, old: str = "", new: str = "") -> str:
    """A solution of the kit, with something put in another's place."""
    found = files.read(kit.folder / f"{name}{kit.suffix}")
    if old not in found:
        raise GradeError(f"{kit.folder}/{name}{kit.suffix}: found no {old!r}, in whose place"
                         " the class needs a mistake")
    return found.replace(old, new, 1) if old else found


def make_class(kit: Kit, folder: Path) -> None:
    """Writes a class of twenty into a folder with the kit in first/instructor: roster, what was
    decided, and what they hand in, called as students and learning platforms call it: files,
    folders, an archive, exports of Moodle and Canvas, one that is late, and a copy."""
    for name, text in (("class.toml", CLASS), ("roster.csv", TWENTY), ("marks.csv", MARKS)):
        files.write(folder / name, text)
    good, first, naive = (text_of(kit, name) for name in ("ladder/good", "ladder/first", "naive"))
    copied = re.sub(r"\bsums?\b", "total", re.sub(r"^///.*\n", "", good, flags=re.M))
    suffix, file = kit.suffix, kit.file
    handed_in = {
        f"ada{suffix}": good, f"ben@1{suffix}": text_of(kit, "ladder/first", *LAST_TERM),
        f"ben@2{suffix}": first, f"chen{suffix}": naive,
        f"dora{suffix}": text_of(kit, "naive", *SEMICOLON), f"emil{suffix}": copied,
        f"Finn Berg_7001_assignsubmission_file_/{file}": first,
        f"Gina Russo_7002_assignsubmission_file_/{file}": good,
        f"satohana_501_90001_{file}": first, f"1009{suffix}": naive, f"north/{file}": good,
        f"mia{suffix}": text_of(kit, "naive", *LAST_TERM), f"noor{suffix}": first,
        f"omar{suffix}": " ", f"pia{suffix}": good, f"quin{suffix}": naive, f"rosa{suffix}": first,
        f"sven{suffix}": text_of(kit, "ladder/good", *LAST_TERM), f"tara{suffix}": first}
    for name, text in handed_in.items():
        place = folder / "first/handed-in" / name
        files.write(place, f"// {name.split('/')[0]}\n{text}" if text.strip() else text)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr(file, f"// leila, late\n{good}")
    files.write(folder / "first/handed-in+2/leila.zip", archive.getvalue())
    if kit.log:
        files.write(folder / "first/handed-in" / "ada.tsv",
                    "when\tdigest\tpredicted\tbecause\tcame\twhy\n"
                    "2026-11-03T14:05Z\t000000000000\t8\teight numbers are read at once\t4.10\t"
                    "each load serves four products only\n")


def hand_in(kit: Kit, folder: Path) -> list[Path]:
    """Writes what students of a class of four hand in: Ada a good solution, Ben one that is wrong
    and then a first good idea, Chen what came with the kit, and Dora what does not compile."""
    written = []
    for student, handed_in in (("ada", text_of(kit, "ladder/good")),
                               ("ben@1", text_of(kit, "ladder/first", *LAST_TERM)),
                               ("ben@2", text_of(kit, "ladder/first")),
                               ("chen", text_of(kit, "naive")),
                               ("dora", text_of(kit, "naive", *SEMICOLON))):
        written.append(folder / f"{student}{kit.suffix}")
        files.write(written[-1], handed_in)
    return written


def said(records: Sequence[Record]) -> str:
    """How long a real class will take, in a line."""
    each = statistics.median(one["seconds"] for one in records if one["seconds"])
    return (f"to time a hand-in takes {each:.0f} s here: 200 of them take"
            f" {200 * each / 60:.0f} minutes")
