"""What must not be printed: which keys look secret, and values with their secrets starred out."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import BaseModel

STARS = "***"

# All that hides secrets goes by these. `sas` and `sig` are Azure's, and stand in many words.
_SECRET_WORDS = (
    r"password|passwd|passphrase|pwd|secret|token|key|credential|authorization|bearer"
    r"|(?<![a-z])(?:sas|sig)(?![a-z])"
)
# What is shorter is no secret, and is part of many words.
_SHORTEST_SECRET = 6
_SECRET_NAME = re.compile(_SECRET_WORDS, re.IGNORECASE)
_URL_LOGIN = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_ASSIGNMENT = re.compile(rf"((?:{_SECRET_WORDS})[\w.-]*\s*[=:]\s*)[^\s;&,]+", re.IGNORECASE)


class SecretText(str):
    """Text that came from an environment variable whose name looks secret."""

    __slots__ = ()


def looks_secret(name: str) -> bool:
    """Whether a key, path or variable of this name probably holds a secret.

    >>> looks_secret("spark.hadoop.fs.s3a.access.key")
    True
    """
    return _SECRET_NAME.search(name) is not None


def redacted(value: object, name: str = "") -> object:
    """`value` as plain data, with everything under a secret-looking name starred out.

    >>> redacted({"url": "sc://me:hunter2@host", "password": "hunter2"})
    {'url': 'sc://***@host', 'password': '***'}
    """
    if isinstance(value, SecretText) or (value is not None and looks_secret(name)):
        return STARS
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return _ASSIGNMENT.sub(rf"\1{STARS}", _URL_LOGIN.sub(STARS, value))
        case BaseModel():
            return {name: redacted(part, name) for name, part in value}
        case Mapping():
            return {str(key): redacted(part, str(key)) for key, part in value.items()}
        case list():
            return [redacted(part) for part in value]
        case tuple():
            return tuple(redacted(part) for part in value)
    return str(value)


def without_secrets(text: str, settings: Mapping[str, str]) -> str:
    """What a program said, with the secret ones of the settings that it was given starred out."""
    for name, value in settings.items():
        if redacted(value, name) != value and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, STARS)
    return text
