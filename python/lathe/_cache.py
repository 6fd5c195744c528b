"""Files that Lathe's calls read: arrays and exported networks, kept under a hash of what is in
them."""
import hashlib
import os
import pathlib
import tempfile


def folder():
    """Returns where they are kept: beside Lathe's compiled objects."""
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "lathe" / "python"


def kept(content: bytes, name: str) -> pathlib.Path:
    """Returns a file of this name with this content. The same content is the same path."""
    path = folder() / hashlib.sha256(content).hexdigest()[:16] / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        os.replace(file.name, path)
    return path
