"""Arguments and file names as UTF-8 where the locale can't express them."""

from __future__ import annotations

import contextlib
import os
import sys


def use_utf8() -> None:
    """Start this command anew in Python's UTF-8 mode where file names are ASCII to Python.

    That is so under a C locale with PYTHONUTF8=0. Python fixes its encoding of arguments and names
    of files at the start, so no later setting will do. Call it before anything else is done.
    """
    encoding = sys.getfilesystemencoding().replace("-", "").lower()
    tried = "utf8" in sys._xoptions
    if encoding != "ascii" or tried or not sys.executable or not hasattr(os, "execv"):
        return
    arguments = [sys.executable, "-X", "utf8=1", *sys.orig_argv[1:]]
    with contextlib.suppress(OSError):
        os.execv(sys.executable, [os.fsencode(each) for each in arguments])
