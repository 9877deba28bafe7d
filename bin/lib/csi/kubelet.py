"""Plays the kubelet to a CSI driver: publishes volumes, kills what can be killed, and checks that each error is a sentence.

    kubelet.py SOCKET FOLDER ENDPOINT DRIVER_PID_FILE    (called by bin/lib/test-csi)
"""

import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import csi_pb2 as csi
import csi_pb2_grpc
import grpc

socket, folder, endpoint = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
node = csi_pb2_grpc.NodeStub(grpc.insecure_channel("unix://" + socket))
SECRET = {"access_key_id": "tester", "secret_access_key": "tester-secret"}
MODE = csi.VolumeCapability.AccessMode.MULTI_NODE_MULTI_WRITER


def target(name):
    path = folder / "pods" / name / "mount"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def publish(name, bucket="data", secret=None, context=None, readonly=False, flags=(), group="", mode=MODE):
    """Publishes twice: each call may be repeated."""
    mount = csi.VolumeCapability.MountVolume(mount_flags=flags, volume_mount_group=group)
    request = csi.NodePublishVolumeRequest(
        volume_id=bucket,
        target_path=str(target(name)),
        readonly=readonly,
        secrets=SECRET if secret is None else secret,
        volume_capability=csi.VolumeCapability(mount=mount, access_mode=csi.VolumeCapability.AccessMode(mode=mode)),
        volume_context={"endpoint": endpoint, "region": "us-east-1", **(context or {})},
    )
    for _ in range(2):
        node.NodePublishVolume(request, wait_for_ready=True, timeout=120)
    return target(name)


def unpublish(*names):
    for name in names + names:
        node.NodeUnpublishVolume(
            csi.NodeUnpublishVolumeRequest(volume_id="any", target_path=str(target(name))), wait_for_ready=True, timeout=120
        )
        assert not target(name).exists(), name


def mounts():
    """Mount points of Penstock, with their devices."""
    lines = [line.split() for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    return {line[4]: line[2] for line in lines if " fuse.penstock " in " ".join(line) and line[4].startswith(str(folder))}


def device(path):
    return mounts()[str(path)]


def refused(code, *words, **volume):
    try:
        publish("refused", **volume)
    except grpc.RpcError as error:
        said = error.details()
        assert error.code() == code and all(word in said for word in words), (error.code(), said)
        assert len(said) > 20 and "tester-secret" not in said and "hunter2" not in said, said
        unpublish("refused")
        return
    raise AssertionError(f"published, but expected {code}")


def eventually(what, check, seconds=60):
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, f"not within {seconds} s: {what}; {mounts()}"
        time.sleep(0.1)


def servers():
    """Processes that serve mounts of this test, and no supervisor."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if "io.penstock.cli.Main" in arguments and "mount" in arguments and any(a.startswith(str(folder)) for a in arguments):
            found.append(int(process.name))
    return found


def three_pods_two_buckets():
    paths = [publish("a"), publish("b"), publish("c", bucket="other", context={"bucket": "other"})]
    devices = [device(path) for path in paths]
    assert devices[0] == devices[1] != devices[2], devices
    assert (paths[0] / "file").read_bytes() == b"content of data\n" * 1000
    (paths[1] / "written").write_text("by b")
    assert (paths[0] / "written").read_text() == "by b" and not (paths[2] / "written").exists()
    reader = publish("reader", readonly=True)
    assert device(reader) == devices[0], "a reader shares the mount of writers"
    try:
        (reader / "no").write_text("")
        raise AssertionError("written through a read-only volume")
    except OSError as error:
        assert error.errno == 30, error  # EROFS
    grouped = publish("grouped", group="4242")
    assert (grouped / "file").stat().st_gid == 4242 and (grouped / "file").stat().st_mode & 0o020
    stats = node.NodeGetVolumeStats(csi.NodeGetVolumeStatsRequest(volume_id="data", volume_path=str(paths[0])))
    assert stats.usage[0].total > 0 and not stats.volume_condition.abnormal, stats
    unpublish("reader", "grouped")


def servers_have_no_rights():
    assert servers()
    for server in servers():
        status = pathlib.Path(f"/proc/{server}/status").read_text()
        lines = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        assert lines["Uid"].split() == ["10001"] * 4 and lines["Gid"].split() == ["10001"] * 4, lines
        assert int(lines["CapEff"], 16) == int(lines["CapPrm"], 16) == 0 and lines["NoNewPrivs"] == "1", lines


def kills():
    """Readers see correct bytes, whatever is killed."""
    path, expected = target("a") / "file", b"content of data\n" * 1000
    end, failures, reads = threading.Event(), [], [0]

    def read():
        while not end.is_set():
            try:
                descriptor = os.open(path, os.O_RDONLY)
                if os.read(descriptor, len(expected)) != expected:
                    failures.append("wrong bytes")
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(descriptor)
                reads[0] += 1
            except OSError as error:
                failures.append(str(error))

    readers = [threading.Thread(target=read, daemon=True) for _ in range(3)]
    for reader in readers:
        reader.start()
    for kill in range(2):
        driver = int(pathlib.Path(sys.argv[4]).read_text())
        os.kill(driver, signal.SIGKILL)
        eventually("another driver", lambda: int(pathlib.Path(sys.argv[4]).read_text()) != driver)
        assert device(publish(f"after{kill}")) == device(target("a")), "the new driver knows the mount"
        before = reads[0]
        for server in servers():
            os.kill(server, signal.SIGKILL)
        eventually("reads after a killed server", lambda: reads[0] > before + 10)
    end.set()
    for reader in readers:
        reader.join(60)
    assert not failures, failures[:3]
    unpublish("after0", "after1")


def upgrade():
    for mount in folder.glob("state/mounts/*/mnt"):
        penstock = pathlib.Path(__file__).parents[2] / "penstock"
        done = subprocess.run([penstock, "upgrade", mount], capture_output=True, text=True, check=False, timeout=100)
        assert done.returncode == 0, done
    assert (target("a") / "file").read_bytes() == b"content of data\n" * 1000


def at_once():
    def one(number):
        publish(f"many{number}", bucket="data" if number % 2 else "other")
        unpublish(f"many{number}")

    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        list(pool.map(one, range(200)))


def credentials():
    code = grpc.StatusCode
    refused(code.UNAUTHENTICATED, "denied", secret={"access_key_id": "tester", "secret_access_key": "hunter2-is-not-it"})
    refused(code.UNAUTHENTICATED, "secret_access_key", secret={"access_key_id": "tester"})
    other = {"access_key_id": "second", "secret_access_key": "second-secret"}
    devices = {device(publish("first")), device(publish("second", secret=other))}
    assert len(devices) == 2, "two secrets share a mount"
    unpublish("first", "second")


def errors():
    code = grpc.StatusCode
    inline = {"csi.storage.k8s.io/ephemeral": "true"}
    refused(code.NOT_FOUND, "missing-bucket", bucket="missing-bucket")
    refused(code.INVALID_ARGUMENT, "no such option", flags=["wrong_option"])
    refused(code.INVALID_ARGUMENT, "cache.dir", flags=["cache=/etc"])
    refused(code.INVALID_ARGUMENT, "memory", context={**inline, "bucket": "data", "mountOptions": "memory=1GiB"})
    refused(code.PERMISSION_DENIED, "driver's credentials", secret={}, context={**inline, "bucket": "data"})
    refused(code.INVALID_ARGUMENT, "bucket is missing", context=inline)
    refused(code.INVALID_ARGUMENT, "unknown volume attribute", context={"buckt": "data"})
    refused(code.INVALID_ARGUMENT, "roleArn", secret={}, context={"authentication": "pod"})
    refused(code.UNAVAILABLE, "does not accept connections", context={"endpoint": "http://127.0.0.1:9"})
    refused(code.INVALID_ARGUMENT, "access mode", mode=csi.VolumeCapability.AccessMode.UNKNOWN)
    publish("inline", context={**inline, "bucket": "data"})
    try:
        publish("inline", bucket="other")
        raise AssertionError("two volumes at one target")
    except grpc.RpcError as error:
        assert error.code() == code.ALREADY_EXISTS, error
    unpublish("inline")


def full_disk():
    """The caches' disk is full: the mount is refused with a reason, or serves without a cache."""
    filler = folder / "cache" / "filler"
    subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=1M"], stderr=subprocess.DEVNULL, check=False)
    try:
        path = publish("full", flags=["metadata.ttl=7s"])
        assert (path / "file").read_bytes() == b"content of data\n" * 1000
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED and "space" in error.details(), error
    filler.unlink()
    unpublish("full")


def pods_account():
    """A token is exchanged for credentials, and renewed in place."""

    def context(token):
        return {
            "authentication": "pod",
            "roleArn": "arn:aws:iam::123456789012:role/reader",
            "csi.storage.k8s.io/pod.namespace": "space",
            "csi.storage.k8s.io/serviceAccount.name": "account",
            "csi.storage.k8s.io/serviceAccount.tokens": json.dumps({"sts.amazonaws.com": {"token": token}}),
        }

    path = publish("account", secret={}, context=context("one.one.one"))
    assert (path / "file").read_bytes() == b"content of data\n" * 1000
    before = device(path)
    publish("account", secret={}, context=context("two.two.two"))
    assert device(path) == before
    tokens = [each.read_text() for each in folder.glob("state/mounts/*/token")]
    assert tokens == ["two.two.two"], tokens
    unpublish("account")


for step in three_pods_two_buckets, servers_have_no_rights, kills, upgrade, servers_have_no_rights, at_once, credentials, errors, full_disk, pods_account:
    started = time.monotonic()
    step()
    print(f"kubelet: {step.__name__}: {time.monotonic() - started:.1f} s", flush=True)
unpublish("a", "b", "c")
eventually("all mounts end", lambda: not mounts())
eventually("all credentials are deleted", lambda: not list((folder / "state/mounts").iterdir()))
