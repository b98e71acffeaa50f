"""PDF and Office files through kreuzberg, which comes with the extra `documents`."""

from __future__ import annotations

from importlib.util import find_spec

from lorebank.errors import InvalidInput, Unavailable


def document_to_text(data: bytes, media_type: str, name: str) -> str:
    """The text of a PDF or Office file; `name` is how messages call the file.

    Raises `Unavailable` when the extra is not installed and `InvalidInput` when the file is broken
    or holds no text (a scan).
    """
    if find_spec("kreuzberg") is None:
        raise Unavailable(
            f"{name} needs the extra `documents`; install it with `pip install 'lorebank[documents]'` "
            "or send the text instead."
        )
    import kreuzberg

    try:
        text = str(kreuzberg.extract_bytes_sync(data, media_type).content)
    except (kreuzberg.KreuzbergError, ValueError, RuntimeError, OSError) as exc:
        raise InvalidInput(f"{name} could not be read as {media_type}; is it damaged?", cause=exc) from exc
    if not text.strip():
        raise InvalidInput(f"{name} holds no text; a scan must be turned into text first.")
    return text
