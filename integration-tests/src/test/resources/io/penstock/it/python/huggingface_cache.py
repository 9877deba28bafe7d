"""huggingface_hub: a cache of two revisions, whose snapshots are links to its blobs, filled without a network."""

import hashlib
import os
import pathlib

import shared
from huggingface_hub import hf_hub_download, scan_cache_dir, snapshot_download
from huggingface_hub.file_download import _chmod_and_move, _create_symlink, repo_folder_name

REPOSITORY = "someone/model"
REVISIONS = "a" * 40, "b" * 40
CACHE = pathlib.Path("hub")


def files(revision):
    """The names and contents of a revision: one file is the same in both."""
    yield "config.json", b'{"same": true}'
    yield "weights/part-1.bin", shared.numbers(REVISIONS.index(revision), 500_000).tobytes()


def write():
    """As file_download.py does once it has a response."""
    storage = CACHE.resolve() / repo_folder_name(repo_id=REPOSITORY, repo_type="model")
    for revision in REVISIONS:
        for name, content in files(revision):
            blob = storage / "blobs" / hashlib.sha256(content).hexdigest()
            snapshot = storage / "snapshots" / revision / name
            blob.parent.mkdir(parents=True, exist_ok=True)
            snapshot.parent.mkdir(parents=True, exist_ok=True)
            is_new = not blob.exists()
            if is_new:
                incomplete = blob.with_name(blob.name + ".incomplete")
                incomplete.write_bytes(content)
                _chmod_and_move(incomplete, blob)
            _create_symlink(str(blob), str(snapshot), new_blob=is_new)
    (storage / "refs").mkdir()
    (storage / "refs" / "main").write_text(REVISIONS[1])


def read():
    info = scan_cache_dir(CACHE)
    print("on disk", info.size_on_disk, [str(warning) for warning in info.warnings])
    for revision in sorted(next(iter(info.repos)).revisions, key=lambda each: each.commit_hash):
        print(revision.commit_hash, sorted(revision.refs), sorted(file.file_name for file in revision.files))
    used = 0
    for revision in REVISIONS:
        for name, _ in files(revision):
            path = hf_hub_download(REPOSITORY, name, revision=revision, cache_dir=CACHE, local_files_only=True)
            content = pathlib.Path(path).read_bytes()
            used += len(content)
            print(os.readlink(path))
            shared.show(name, content)
    main = pathlib.Path(snapshot_download(REPOSITORY, cache_dir=CACHE, local_files_only=True))
    print(main.name, sorted(str(path.relative_to(main)) for path in main.rglob("*")))
    return used


shared.main(write, read)
