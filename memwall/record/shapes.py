"""JSON as objects: the fields of dataclasses say what must stand where.

By hand: errors name the value that was found, of which msgspec tells the type alone."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from memwall.record.errors import UserError
from memwall.record.schemas import spot

Shape = TypeVar("Shape")
#: What JSON calls the values of fields.
KINDS: Mapping[Any, tuple[str, tuple[type, ...]]] = {
    str: ("text", (str,)),
    int: ("a whole number", (int,)),
    float: ("a number", (int, float)),
    NoneType: ("null", (NoneType,)),
}


def read_as(shape: type[Shape], value: Any, shown: str) -> Shape:
    """An object of a dataclass that a JSON value describes. Raises `UserError` with the place of
    what is no such thing."""
    made: Shape = _made(shape, value, shown, ())
    return made


def _made(shape: Any, value: Any, shown: str, path: tuple[str | int, ...]) -> Any:
    """`shape` is a dataclass, a tuple, a union with None, a literal, or one of `KINDS`."""
    origin, of = get_origin(shape), get_args(shape)
    if origin is UnionType:
        shape = next(one for one in of if (one is NoneType) == (value is None))
        return _made(shape, value, shown, path)
    if is_dataclass(shape) and isinstance(value, dict):
        return _object(shape, value, shown, path)
    if origin is tuple and isinstance(value, list):
        shapes = [of[0]] * len(value) if of[-1] is ... else of
        if len(shapes) == len(value):
            return tuple(_made(one, entry, shown, (*path, at))
                         for at, (one, entry) in enumerate(zip(shapes, value, strict=True)))
    if value in of if origin is Literal else _is_of_kind(shape, value):
        return value
    raise UserError(f"{spot(shown, path)}: found {json.dumps(value)[:40]}, expected"
                    f" {_words(shape)}")


def _object(shape: Any, value: dict[str, Any], shown: str, path: tuple[str | int, ...]) -> Any:
    hints = get_type_hints(shape)
    names = [field.name for field in fields(shape)]
    for name in names:
        if name not in value:
            raise UserError(f'{spot(shown, path)}: found no "{name}", expected one')
    for name in value:
        if name not in names:
            raise UserError(f"{spot(shown, path)}: found the key {json.dumps(name)[:40]}, expected"
                            f" only {', '.join(names)}")
    return shape(**{name: _made(hints[name], value[name], shown, (*path, name))
                    for name in names})


def _is_of_kind(shape: Any, value: Any) -> bool:
    return shape in KINDS and isinstance(value, KINDS[shape][1]) and not isinstance(value, bool)


def _words(shape: Any) -> str:
    if get_origin(shape) is Literal:
        return f"one of {', '.join(get_args(shape))}"
    if get_origin(shape) is tuple:
        shapes = get_args(shape)
        return "a list" if shapes[-1] is ... else f"a list of {len(shapes)}"
    return KINDS[shape][0] if shape in KINDS else "an object"
