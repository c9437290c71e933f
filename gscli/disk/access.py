"""Who may read and write a file that takes another's place: the same people, or fewer."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from gscli.disk.mapped import ATTRIBUTE

_ACCESS_LIST = "system.posix_acl_access"
"""The attribute in which Linux keeps an access control list; its mask shows as the group's bits."""

_KEPT = ("user.", "security.selinux")
"""Attributes that stay; others, as capabilities and our own, are meant for the old content."""


def copy_permissions(old_path: str, new: int, old: os.stat_result) -> None:
    """Give a new file, that only its owner can open yet, the owner, group, mode, access list and
    attributes of an old one. Where one of them cannot be given, it is open to fewer people.

    Raises OSError where the mode cannot be set.
    """
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if not _copy_owner(new, old):
        # Whoever was of the old group is one of the others now, and the other way round.
        common = mode >> 3 & mode & 0o007
        mode = mode & 0o700 | common << 3 | common
    attributes = _read_xattrs(old_path)
    listed = attributes.pop(_ACCESS_LIST, None)
    os.fchmod(new, mode if listed is None else mode & 0o700)
    for name, value in attributes.items():
        with suppress(OSError):
            os.setxattr(new, name, value)
    if listed is not None and os.fstat(new).st_gid == old.st_gid:
        with suppress(OSError):
            os.setxattr(new, _ACCESS_LIST, listed)  # sets the mode as well


def _copy_owner(new: int, old: os.stat_result) -> bool:
    """Give owner and group, or the group alone; whether the group is as it was."""
    now = os.fstat(new)
    for owner in (old.st_uid, -1):
        if (now.st_uid, now.st_gid) == (old.st_uid, old.st_gid):
            break
        with suppress(OSError):
            os.fchown(new, owner, old.st_gid)
            break
    return os.fstat(new).st_gid == old.st_gid


def _read_xattrs(path: str) -> dict[str, bytes]:
    """The extended attributes to be kept and the access list, as far as they can be read."""
    xattrs: dict[str, bytes] = {}
    if not hasattr(os, "listxattr"):  # macOS keeps its own in another way
        return xattrs
    with suppress(OSError):
        for name in os.listxattr(path):
            if (name.startswith(_KEPT) and name != ATTRIBUTE) or name == _ACCESS_LIST:
                xattrs[name] = os.getxattr(path, name)
    return xattrs
