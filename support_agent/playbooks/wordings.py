"""What is wrong with a playbook's wording, found when it is loaded and not when a customer asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from zoneinfo import ZoneInfo

import jinja2
from jinja2 import nodes

from support_agent.playbooks.vocabulary import Vocabulary
from support_agent.rendering.filters import FILTERS
from support_agent.rendering.wording import rendered, wording_environment

_OTHER_TEMPLATES: Final = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


def wording_faults(text: str, vocabulary: Vocabulary, *, trial: bool) -> list[tuple[str, str]]:
    """What is wrong with `text`, each with what to do.

    Args:
        trial: Whether it is also said once on sample values.
    """
    try:
        tree = wording_environment().parse(text)
    except jinja2.TemplateError as error:
        return [(f"no template ({error.message})", "correct it")]
    return list(_unknown(tree, vocabulary)) or (list(_trial(text, tree, vocabulary)) if trial else [])


def _unknown(tree: nodes.Template, vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    """What compiling would refuse, without the cost of compiling, and what nothing would fill in."""
    environment = wording_environment()
    if any(tree.find(kind) is not None for kind in _OTHER_TEMPLATES):
        yield "a wording that loads another", "write it out: a wording stands alone"
    for filtered in tree.find_all(nodes.Filter):
        if filtered.name not in environment.filters:
            yield f"no filter is called {filtered.name!r}", f"ours are {', '.join(sorted(FILTERS))}"
    for test in tree.find_all(nodes.Test):
        if test.name not in environment.tests:
            yield f"no test is called {test.name!r}", "use == or in"
    for name in _printed(tree):
        if name not in vocabulary:
            yield f"prints {name!r}, which nothing gives", "add it to a need or a calculation"


def _trial(text: str, tree: nodes.Template, vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    """What goes wrong on a sample of each type, such as a filter on the wrong type."""
    samples = {name: vocabulary.sample(name) for name in _printed(tree)}
    if None in samples.values():
        return
    try:
        rendered(text, samples, language="en", zone=ZoneInfo("UTC"))
    except jinja2.TemplateError as error:
        yield f"cannot be said ({error.message})", "correct it"
    except Exception as error:  # noqa: BLE001 A template raises whatever the operations in it raise.
        yield f"cannot be said ({type(error).__name__}: {error})", "use the filter that fits the type"


def _printed(tree: nodes.Template) -> Iterator[str]:
    """The dotted names that a template reads; a name without a dot as it is, but for those it sets itself."""
    inner = {id(node.node) for node in tree.find_all(nodes.Getattr)}
    names = list(tree.find_all(nodes.Name))
    own = {name.name for name in names if name.ctx != "load"}
    for node in (*tree.find_all(nodes.Getattr), *names):
        if id(node) in inner:
            continue
        parts: list[str] = []
        root: nodes.Node = node
        while isinstance(root, nodes.Getattr):
            parts.append(root.attr)
            root = root.node
        if isinstance(root, nodes.Name) and root.name not in own:
            yield ".".join([root.name, *reversed(parts)])
