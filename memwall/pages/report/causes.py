"""The section Causes: claims about variants of studies that take a suspect away."""

from memwall.analysis.verdicts import NOT_ASKED, OUT_OF_DATE
from memwall.pages.report.claims import tables
from memwall.pages.report.told import Told

MEANING = ("A cause is what goes when it is taken away. These claims compare what was measured with"
           " a suspect and without it, or two things without it; which two a number compares stands"
           " with the claim, to which its name leads.")
NONE = "No claim of this experiment takes a suspect away: this report names no cause."
NOT_TOLD = "Nothing that is told here measured what the claims about causes compare."


def section(told: Told) -> str:
    """Which suspect was removed, what it changed, and the verdict."""
    causes = [claim for claim in told.experiment.claims if claim.removes]
    if not causes:
        return NONE
    found = {told.survey.verdicts[claim.id][one.machine].verdict
             for claim in causes for one in told.runs}
    if found <= {NOT_ASKED, OUT_OF_DATE}:
        return NOT_TOLD
    removed = {claim.id: claim.removes for claim in causes}
    return "\n\n".join([MEANING, *tables(told, "claim about a cause", causes, second=removed)])
