"""A tenant as its folder says it: `tenant.yaml`, `facts.yaml`, `playbooks/`, `documents/`, `trial/`."""
