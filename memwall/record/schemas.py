"""JSON schemas: what breaks one, in one line."""

import json
from collections.abc import Iterable
from typing import Any

import jsonschema
from jsonschema.exceptions import ValidationError, best_match

from memwall.record.errors import UserError


def spot(shown: str, path: Iterable[str | int]) -> str:
    """`file: $.cases[3].work`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{shown}: ${''.join(steps)}"


def check_schema(value: Any, schema: dict[str, Any], shown: str) -> None:
    """Raises the most telling violation."""
    error = best_match(jsonschema.Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        raise UserError(f"{spot(shown, error.absolute_path)}: {_found_and_expected(error)}")


def _found_and_expected(error: ValidationError) -> str:
    rule, wanted = error.validator, error.validator_value
    if rule == "required":
        missing = next(name for name in wanted if name not in error.instance)
        return f'found no "{missing}", expected the keys {_short(wanted)}'
    if rule == "additionalProperties":
        known = error.schema.get("properties", {})
        extra = next(name for name in error.instance if name not in known)
        return f'found the key "{extra}", expected only {_short(sorted(known))}'
    expectation = {
        "type": f"{wanted}",
        "enum": f"one of {_short(wanted)}",
        "const": _short(wanted),
        "pattern": f"text like {wanted}",
        "minimum": f"at least {wanted}",
        "maximum": f"at most {wanted}",
        "exclusiveMinimum": f"more than {wanted}",
        "minItems": f"at least {wanted} entries",
        "minLength": "text",
    }.get(rule, error.schema.get("description", f"{rule} {_short(wanted)}"))
    return f"found {_short(error.instance)}, expected {expectation}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + "..."
