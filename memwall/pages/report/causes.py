"""The section Causes: claims about variants of studies that take a suspect away."""

from memwall.pages.report.claims import conditions, tables, verdict
from memwall.pages.report.told import Told

MEANING = ("A cause is what goes when it is taken away. Each of these studies takes one suspect"
           " away and leaves everything else, so that the number beside a verdict is what its"
           " removal changed. Nothing else on this page states a cause.")


def section(told: Told) -> str:
    """Which suspect was removed, what it changed, and the verdict."""
    causes = [claim for claim in told.experiment.claims if claim.removes]
    if not causes:
        return "No study of this experiment takes a suspect away: this report names no cause."
    removed = {claim.id: claim.removes for claim in causes}
    parts = [MEANING, *tables(told, "claimed cause", causes, second=removed)]
    lines = []
    for claim in causes:
        verdicts = told.survey.verdicts[claim.id]
        one = next((each for each in told.runs if verdicts[each.machine].decided), None)
        if one is not None:
            lines.append(f"- *{claim.short}.* {verdict(told, claim, one)}\n"
                         f"{conditions(told, claim, one)}".rstrip())
    return "\n\n".join([*parts, *(["\n".join(lines)] if lines else [])])
