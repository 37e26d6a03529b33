"""SHA-256 digests that name content in archive and traces."""

import hashlib


def digest(content: bytes) -> str:
    """Return `sha256:` followed by 64 hexadecimal digits."""
    return "sha256:" + hashlib.sha256(content).hexdigest()
