"""Properties that are computed once, for objects of which a new one is made for every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class cached_property(Generic[Value]):  # noqa: N801  used as its namesake is
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

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        """Only the first time: from then on Python finds the value in the instance."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._function(instance)
        return value
