"""Which of several statements on one need prevails, by which rung, and what removed each of the others."""

from support_agent.pipeline.resolution.outcome import resolve
from support_agent.pipeline.resolution.passages import Spoken, resolve_passages

__all__ = ["Spoken", "resolve", "resolve_passages"]
