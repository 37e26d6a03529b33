"""Read configuration files of the user: text and TOML."""

import os
import stat
import tomllib
from pathlib import Path

from marchwarden.errors import InvalidInput


def read_config(path: Path) -> str | None:
    """Return the text of a configuration file, or None if there is none. Raises `InvalidInput` if it is unreadable.

    A folder that cannot be entered, such as the home folder of another user, has no configuration files.
    """
    try:
        # Opening a pipe would wait for a writer.
        if not stat.S_ISREG(path.stat().st_mode):
            raise InvalidInput(f"{path} is not a regular file; use a text file instead")
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if not os.access(path.parent, os.X_OK):
            return None
        raise InvalidInput(f"{path} cannot be read: {error.strerror}; make it readable or remove it") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text; correct or remove it") from error


def parse_toml(text: str, where: str) -> dict[str, object]:
    """Parse TOML. Raises `InvalidInput` with the position of the error."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{where} is not valid TOML: {error}; correct or remove it") from error
    except RecursionError as error:
        raise InvalidInput(f"{where} is nested too deeply; correct or remove it") from error
