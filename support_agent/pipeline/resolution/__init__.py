"""Which of several statements on one need prevails, by which rung, and what removed each of the others."""

from support_agent.pipeline.resolution.outcome import resolve

__all__ = ["resolve"]
