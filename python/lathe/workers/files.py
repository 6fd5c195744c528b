"""The files of a search, for machines that do not have them: one archive, sent once to each."""
import hashlib
import io
import os
import pathlib
import shutil
import tempfile
import zipfile

from lathe.error import Error

PLACE = "lathe-files:"  # stands for the folder in which a worker keeps the files


class Files:
    """The files that a search names: its network, data, recipes.

    ``search`` is what workers are told instead: paths begin with PLACE. ``name`` is the hash of
    the archive; it is "" if there are none. Paths that are no files here are left as they are:
    they may exist there.
    """

    def __init__(self, search):
        self._found = {}  # names in the archive, by path
        self.search = self._renamed(search)
        self.archive = self._packed()
        self.name = hashlib.sha256(self.archive).hexdigest()[:32] if self.archive else ""

    def _renamed(self, search):
        network = dict(search["network"])
        if network["network"].endswith((".onnx", ".graph")):
            network["network"] = self._place(network["network"])
        network["apply"] = [self._place(recipe) for recipe in network["apply"]]
        kind, _, paths = search["data"].partition(":")
        data = kind + ":" + ",".join(self._place(path) for path in paths.split(","))
        return {**search, "network": network, "data": data}

    def _place(self, path):
        if not path or not os.path.exists(path):
            return path
        if path not in self._found:
            base = os.path.basename(os.path.normpath(path))
            self._found[path] = f"{len(self._found)}/{base}"
        return PLACE + self._found[path]

    def _packed(self):
        if not self._found:
            return b""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for path, name in self._found.items():
                inside = sorted(pathlib.Path(path).iterdir()) if os.path.isdir(path) else []
                for each in inside:
                    if each.is_file():
                        _add(archive, f"{name}/{each.name}", each)
                if not inside:
                    _add(archive, name, pathlib.Path(path))
        return buffer.getvalue()


def _add(archive, name, path):
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same files: the same archive
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, path.read_bytes())


class KeptFiles:
    """The files of searches on a worker, in a folder of its own."""

    def __init__(self):
        self._folder = tempfile.mkdtemp(prefix="lathe-worker-")

    def has(self, name):
        """Are the files of that name here?"""
        return not name or os.path.isdir(os.path.join(self._folder, name))

    def keep(self, name, archive):
        """Unpacks an archive. Fails, and leaves nothing, where there is no room for it."""
        draft = tempfile.mkdtemp(dir=self._folder)
        try:
            if hashlib.sha256(archive).hexdigest()[:32] != name:
                raise Error("the files of the search arrived damaged")
            with zipfile.ZipFile(io.BytesIO(archive)) as files:
                files.extractall(draft)
            if not self.has(name):
                os.rename(draft, os.path.join(self._folder, name))
        except OSError as error:
            raise Error(f"the files of the search cannot be kept in '{self._folder}': "
                        f"{error.strerror}") from None
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def placed(self, text, name):
        """Returns a text with the paths that files have here."""
        return text.replace(PLACE, os.path.join(self._folder, name) + os.sep)

    def close(self):
        """Removes the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)
