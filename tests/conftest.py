"""What all tests share: generated cases have no deadline, since a busy machine breaks no law."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("house", deadline=None)
settings.load_profile("house")
