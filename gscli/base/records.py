"""Records: named tuples whose class is made in a tenth of the time, and cached properties.

`typing.NamedTuple` compiles every annotation and the source of a constructor: 0.14 to 0.33 ms a
class, and a small run makes seventy of them, a fifth of the time that is ours. A record has the
same face (type checkers read it as a `NamedTuple`) and keeps its annotations as they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

__all__ = ["Arguments", "Record", "cached_property", "former_names", "group_pairs", "set_defaults"]

# What a call is given by name: its attributes, or inputs that need not be arrays yet.
Arguments: TypeAlias = Mapping[str, object]

_Class = TypeVar("_Class", bound=type)
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

if TYPE_CHECKING:
    from functools import cached_property
    from typing import NamedTuple as Record
else:

    class _Kind(type):
        """Makes the class of a record: a property for each annotation of its body, in order.

        A class below a record has its fields, and may hold more, as any class does.
        """

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if bases[0] is tuple or bases[0]._fields:
                return super().__new__(cls, name, bases, body)
            made = super().__new__(cls, name, bases, {"__slots__": (), **body})
            made._fields = made.__match_args__ = tuple(made.__annotations__)
            set_defaults(made, {field: body[field] for field in made._fields if field in body})
            for place, field in enumerate(made._fields):
                setattr(made, field, property(itemgetter(place)))
            return made

    class Record(tuple, metaclass=_Kind):
        """A tuple with names, declared as a `typing.NamedTuple` is.

        >>> class Point(Record):
        ...     x: int
        ...     y: int = 0
        >>> Point(1), Point(x=1)._replace(y=2).y, Point(3, 4) == (3, 4)
        (Point(x=1, y=0), 2, True)
        """

        __slots__ = ()
        _fields = ()
        _field_defaults = {}  # noqa: RUF012  replaced in each class
        _ends = {0: ()}  # noqa: RUF012  number of values → the defaults of those behind them

        def __new__(cls, *values: object, **named: object) -> Self:
            """From values by position or name; TypeError where one lacks or is too many."""
            end = None if named else cls._ends.get(len(values))
            if end is None:
                fields, arguments = cls._fields[len(values) :], {**cls._field_defaults, **named}
                if not fields or not named.keys() <= set(fields) <= arguments.keys():
                    raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
                end = tuple([arguments[field] for field in fields])
            return tuple.__new__(cls, values + end)

        def __getnewargs__(self) -> tuple[object, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            facts = zip(self._fields, self, strict=True)
            return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in facts)})"

        def _asdict(self) -> dict[str, object]:
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, **changes: object) -> Self:
            facts = {**dict(zip(self._fields, self, strict=True)), **changes}
            if len(facts) > len(self):
                raise TypeError(f"{type(self).__name__} has no {', '.join([*facts][len(self) :])}")
            return tuple.__new__(type(self), facts.values())

    class cached_property:  # noqa: N801  used as its namesake is
        """`functools.cached_property` without the lock that it takes before Python 3.12.

        Two threads that ask at once both compute the value, and both find the same.

        >>> class Box:
        ...     @cached_property
        ...     def size(self):
        ...         print("computed")
        ...         return 3
        >>> box = Box()
        >>> box.size + box.size
        computed
        6
        """

        def __init__(self, function: Callable[[Any], Any]) -> None:
            self._function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: object | None, owner: type) -> Any:
            """Only the first time: from then on Python finds the value in the instance."""
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self._function(instance)
            return value


def set_defaults(record: Any, defaults: Mapping[str, object]) -> None:
    """Gives the fields at the end of a record their defaults, or others than its body says.

    >>> class Point(Record):
    ...     x: int
    ...     y: int = 0
    >>> set_defaults(Point, {"y": 7})
    >>> Point(1)
    Point(x=1, y=7)
    """
    record._field_defaults = {**record._field_defaults, **defaults}
    last, count = tuple(record._field_defaults.values()), len(record._fields)
    record._ends = {count - len(last) + n: last[n:] for n in range(len(last) + 1)}  # noqa: SLF001


def former_names(**names: str) -> Callable[[_Class], _Class]:
    """A class decorator: attributes that had other names in 1.0 are still read by these.

    >>> @former_names(extent="size")
    ... class Box:
    ...     size = 3
    >>> Box().extent
    3
    """

    def read_former_name(owner: Any, name: str) -> Any:
        if name in names:
            return getattr(owner, names[name])
        raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")

    def decorate(decorated: _Class) -> _Class:
        decorated.__getattr__ = read_former_name  # type: ignore[attr-defined]
        return decorated

    return decorate


def group_pairs(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """The values of each key, keys in the order in which they come.

    >>> group_pairs([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    groups: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
