"""The CEL evaluator without its command line.

The package `cel` loads its command line, and with it a toolkit for terminals, wherever it is imported: 0.16 s of every
start. The evaluator is the extension module inside; it is loaded from there by itself.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Final

_NAME: Final = "cel.cel"


def load_evaluator() -> ModuleType:
    """The module that defines `compile`, `evaluate` and `Context`.

    Raises:
        ImportError: The library is not installed.
    """
    if (loaded := sys.modules.get(_NAME)) is not None:
        return loaded
    package = find_spec("cel")
    spec = PathFinder.find_spec(_NAME, package.submodule_search_locations if package else None)
    if spec is None or spec.loader is None:
        raise ImportError("the library common-expression-language is not installed", name="cel")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[_NAME] = module
    return module
