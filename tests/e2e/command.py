"""`support-agent` as a person or a script runs it: as a process, and in this one where a process would cost a second."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from support_agent.cli.main import run

