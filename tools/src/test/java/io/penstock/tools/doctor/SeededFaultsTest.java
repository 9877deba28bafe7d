package io.penstock.tools.doctor;

import static io.penstock.tools.doctor.Finding.Severity.ERROR;
import static io.penstock.tools.doctor.Finding.Severity.NOTE;
import static io.penstock.tools.doctor.Finding.Severity.OK;
import static io.penstock.tools.doctor.Finding.Severity.WARNING;
import static io.penstock.tools.doctor.Machines.DISK;
import static io.penstock.tools.doctor.Machines.GIB;
import static io.penstock.tools.doctor.Machines.SOUND;
import static io.penstock.tools.doctor.Machines.disk;
import static io.penstock.tools.doctor.Machines.ofUser;
import static io.penstock.tools.doctor.Machines.settings;
import static io.penstock.tools.doctor.Machines.with;
import static io.penstock.tools.doctor.Machines.withMemory;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.CacheStatistics;
import io.penstock.disk.ExposedFolder;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.ObjectStoreException.AccessDenied;
import io.penstock.objectstore.s3.RequestStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.serve.control.Cost;
import io.penstock.serve.control.MountStatistics;
import io.penstock.serve.control.MountStatistics.InFlight;
import io.penstock.serve.control.Saved;
import io.penstock.serve.mount.Target;
import io.penstock.tools.doctor.Machine.AotCache;
import io.penstock.tools.doctor.Machine.Device;
import io.penstock.tools.doctor.Machine.Kernel;
import io.penstock.tools.doctor.Machine.Limits;
import io.penstock.tools.doctor.Quirks.Upload;
import io.penstock.tools.doctor.Rights.Right;
import io.penstock.tools.measure.DiskTrial;
import io.penstock.tools.measure.DiskTrial.Outcome;
import io.penstock.tools.measure.RangeSpeed;
import io.penstock.writeback.WritebackStatistics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Seeds each fault into facts without one. The doctor must name the fault and its remedy. */
class SeededFaultsTest {
    private static final Target TARGET = new Target("data", "a/");
    private static final Quirks.Facts LIKE_S3 =
            new Quirks.Facts(true, true, true, true, new Upload.AsSet(), Set.of(), Map.of("PutObject", true));

    /**
     * A fault.
     *
     * @param name for the test's report
     * @param findings of the check that should notice it
     * @param named words of the finding
     * @param mended words of the remedy
     */
    record Fault(String name, Findings findings, Finding.Severity severity, String named, String mended) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static <F> Fault fault(
            String name,
            BiConsumer<F, Findings> check,
            F facts,
            Finding.Severity severity,
            String named,
            String mended) {
        Findings findings = new Findings("check");
        check.accept(facts, findings);
        return new Fault(name, findings, severity, named, mended);
    }

    private static Stream<Fault> faultsOfTheMachine() {
        BiConsumer<Machine.Facts, Findings> fuse = new Fuse(settings(""))::device;
        BiConsumer<Machine.Facts, Findings> kernel = new Fuse(settings(""))::kernel;
        BiConsumer<Machine.Facts, Findings> limits = new ProcessLimits(settings(""))::files;
        return Stream.of(
                fault("no device", fuse, with(Device.MISSING), ERROR, "/dev/fuse does not exist", "modprobe fuse"),
                fault("closed device", fuse, with(Device.DENIED), ERROR, "may not open", "chmod 666 /dev/fuse"),
                fault("no module", fuse, with(Device.FAILS), ERROR, "cannot be opened", "modprobe fuse"),
                fault("no capability", fuse, Machines.unprivileged(), ERROR, "CAP_SYS_ADMIN", "--cap-add SYS_ADMIN"),
                fault("no fusermount", fuse, ofUser(false, true), ERROR, "fusermount3", "apt-get install fuse3"),
                fault(
                        "no user_allow_other",
                        new Fuse(settings(1000, "allow_other"))::device,
                        ofUser(true, false),
                        ERROR,
                        "/etc/fuse.conf",
                        "user_allow_other"),
                fault(
                        "kernel without passthrough",
                        kernel,
                        with(new Kernel(6, 8)),
                        NOTE,
                        "does not support FUSE passthrough",
                        "newer kernel"),
                fault("user without passthrough", kernel, ofUser(true, true), NOTE, "needs root", "as root"),
                fault("old kernel", kernel, with(new Kernel(4, 18)), WARNING, "older than 5.4", "newer kernel"),
                fault(
                        "old kernel for the binding",
                        new Fuse(settings("binding=kernel"))::kernel,
                        with(new Kernel(5, 3)),
                        ERROR,
                        "fuse.binding=kernel",
                        "fuse.binding to auto"),
                fault(
                        "few files",
                        limits,
                        with(new Limits(4096, 0, Long.MAX_VALUE)),
                        WARNING,
                        "4096 open files",
                        "LimitNOFILE"),
                fault(
                        "too few files",
                        limits,
                        with(new Limits(256, 0, Long.MAX_VALUE)),
                        ERROR,
                        "256 open files",
                        "LimitNOFILE"),
                fault(
                        "small files",
                        limits,
                        with(new Limits(1 << 20, 0, GIB)),
                        WARNING,
                        "1GiB (ulimit -f)",
                        "ulimit -f"),
                fault(
                        "memory of the cgroup",
                        new ProcessLimits(settings("memory=4GiB,write.memory=4GiB"))::memory,
                        withMemory(8 * GIB),
                        ERROR,
                        "memory, write.memory and the process itself take up to 8.3GiB",
                        "Lower memory"),
                fault(
                        "names of very many objects",
                        new ProcessLimits(settings("memory=1GiB,write.memory=1GiB,metadata.preload-memory=2GiB"))
                                ::memory,
                        withMemory(4 * GIB),
                        WARNING,
                        "the names of very many objects take up to 4.3GiB",
                        "Lower metadata.preload-memory"),
                fault(
                        "names that are listed again",
                        new ProcessLimits(settings(
                                "memory=1GiB,write.memory=1GiB,metadata.preload-memory=1GiB,metadata.refresh=1h"))
                                ::memory,
                        withMemory(4 * GIB),
                        WARNING,
                        "the names of very many objects take up to 4.3GiB",
                        "Lower metadata.preload-memory"),
                fault(
                        "windows larger than memory",
                        new ProcessLimits(settings("memory=1GiB,readahead.max-window=1GiB"))::memory,
                        SOUND,
                        WARNING,
                        "no window of readahead.max-window",
                        "Raise memory to 8GiB"),
                fault(
                        "memory for one stream",
                        new ProcessLimits(settings("memory=256MiB"))::memory,
                        SOUND,
                        NOTE,
                        "1 window",
                        "lower readahead.max-window"),
                fault(
                        "no AOT cache",
                        Machine::start,
                        with(AotCache.NOT_WRITABLE),
                        NOTE,
                        "cannot create it",
                        "penstock train"),
                fault(
                        "dead mount",
                        MountHealth::all,
                        new MountHealth.All(List.of(Path.of("/mnt/a")), List.of(Path.of("/mnt/a"))),
                        WARNING,
                        "/mnt/a has ended",
                        "penstock umount /mnt/a"),
                fault(
                        "failed AOT cache",
                        Machine::start,
                        with(AotCache.FAILED),
                        WARNING,
                        "could not be created",
                        "penstock.aot"));
    }

    private static Stream<Fault> faultsOfDisks() {
        BiConsumer<Disk.Facts, Findings> cache = Disk.ofCache(settings(""))::check;
        BiConsumer<Disk.Facts, Findings> staging = Disk.ofStaging(settings(""))::check;
        Outcome slow = new Outcome(true, true, new DiskTrial.Speed(90, 120, 180, Duration.ofMillis(90)));
        Outcome plain = new Outcome(false, true, null);
        Outcome solid = new Outcome(true, false, null);
        return Stream.of(
                fault("read-only disk", cache, Machines.readOnlyDisk(), ERROR, "is not writable", "cache.dir"),
                fault("cache in memory", cache, disk("tmpfs", 4096 * GIB, plain), WARNING, "is memory", "NVMe"),
                fault(
                        "staging in memory",
                        staging,
                        disk("tmpfs", 4096 * GIB, plain),
                        ERROR,
                        "is memory",
                        "write.staging"),
                fault("cache in a container", cache, disk("overlay", 4096 * GIB, null), WARNING, "container", "volume"),
                fault(
                        "staging in a container",
                        staging,
                        disk("overlay", 4096 * GIB, null),
                        ERROR,
                        "container",
                        "volume"),
                fault("cache on NFS", cache, disk("nfs4", 4096 * GIB, null), WARNING, "network file system", "NVMe"),
                fault("cache on FUSE", cache, disk("fuse.sshfs", 4096 * GIB, null), WARNING, "fuse.sshfs", "NVMe"),
                fault("no holes", cache, disk("nfs", 4096 * GIB, solid), WARNING, "cannot punch holes", "XFS"),
                fault("no direct I/O", cache, disk("zfs", 4096 * GIB, plain), NOTE, "no direct I/O", "ext4"),
                fault("slow disk", cache, disk("ext4", 4096 * GIB, slow), WARNING, "120 MiB/s", "NVMe"),
                fault("full disk", cache, disk("ext4", 0, null), ERROR, "0B are free", "Free space"),
                fault(
                        "nothing beside min-free",
                        cache,
                        disk("ext4", GIB, null),
                        ERROR,
                        "cache.min-free is 2GiB",
                        "lower cache.min-free"),
                fault("full staging disk", staging, disk("ext4", 0, null), ERROR, "0B are free", "write.staging"),
                fault(
                        "cache.size above the disk",
                        Disk.ofCache(settings("cache_size=2TiB"))::check,
                        disk("ext4", 1024 * GIB, null),
                        WARNING,
                        "cache.size is 2TiB, but the disk has room for 1.0TiB",
                        "Lower cache.size"),
                fault(
                        "default above the disk",
                        cache,
                        disk("ext4", 32 * GIB, null),
                        NOTE,
                        "room for 30GiB",
                        "Lower cache.size"),
                fault(
                        "two file systems",
                        new MountFolders(settings(""))::both,
                        new MountFolders.Facts(DISK, Machines.otherDisk()),
                        WARNING,
                        "on another file system",
                        "write.staging"),
                fault(
                        "cache and staging too large together",
                        new MountFolders(settings("cache_size=3TiB,write.staging-size=3TiB"))::both,
                        new MountFolders.Facts(DISK, DISK),
                        NOTE,
                        "exceed the size of their disk",
                        "Lower them"),
                fault(
                        "scratch of all users",
                        MountFolders::parents,
                        List.of(new ExposedFolder(
                                Path.of("/scratch"),
                                "/scratch belongs to user 0 and has mode 777",
                                "chmod +t /scratch")),
                        WARNING,
                        "/scratch belongs to user 0",
                        "chmod +t /scratch, or set cache.dir and write.staging to folders elsewhere"),
                fault(
                        "log on a full disk",
                        MountFolders::log,
                        disk("ext4", 1 << 20, null),
                        WARNING,
                        "1MiB free",
                        "log.file"),
                fault(
                        "log unwritable",
                        MountFolders::log,
                        Machines.readOnlyDisk(),
                        WARNING,
                        "is not writable",
                        "log.file"));
    }

    private static Stream<Fault> faultsOfSettings() {
        return Stream.of(
                defeated(
                        "fuse.passthrough=trusting,fuse.writeback-cache",
                        WARNING,
                        "disables it",
                        "fuse.writeback-cache"),
                defeated("s3.connections=64", WARNING, "readahead.concurrency is 128, but s3.connections is 64", "192"),
                defeated("s3.connections=150", NOTE, "add up to 192", "s3.connections to 192"),
                defeated("s3.retry-deadline=10s", WARNING, "s3.read-timeout, 15s", "s3.retry-deadline"),
                defeated("metadata.ttl=0", WARNING, "metadata.ttl is 0", "1s"),
                defeated("metadata.preload=on", NOTE, "metadata.refresh is 0", "1h"),
                defeated("anonymous", NOTE, "without read-only", "read-only"),
                defeated("readahead.max-window=0", WARNING, "readahead.max-window is 0", "128MiB"),
                defeated("readahead.range-size=1GiB", NOTE, "above readahead.max-window", "readahead.range-size"),
                defeated("upload.concurrency=8", NOTE, "upload.concurrency-per-file, 32", "Raise upload.concurrency"),
                defeated("upload.parts=equal", NOTE, "hold 78GiB", "upload.part-size"),
                defeated("ro,write.close=staged", NOTE, "write.close is set", "Remove"));
    }

    private static Fault defeated(String settings, Finding.Severity severity, String named, String mended) {
        return fault(settings, SettingConflicts::check, settings(settings), severity, named, mended);
    }

    private static Stream<Fault> faultsOfTheStore() {
        BiConsumer<Access.Server, Findings> server = access("")::server;
        BiConsumer<Access.Key, Findings> credentials = access("")::credentials;
        BiConsumer<Access.Bucket, Findings> bucket = access("")::bucket;
        BiConsumer<Rights.Facts, Findings> rights = new Rights(TARGET, false)::check;
        return Stream.of(
                fault(
                        "unreachable",
                        server,
                        new Access.Server("x cannot be reached", null),
                        ERROR,
                        "cannot be reached",
                        "s3.endpoint"),
                fault(
                        "skewed clock",
                        server,
                        new Access.Server(null, Duration.ofHours(-3)),
                        WARNING,
                        "3 h ahead",
                        "set-ntp"),
                fault(
                        "clock behind",
                        server,
                        new Access.Server(null, Duration.ofMinutes(4)),
                        WARNING,
                        "4 min behind",
                        "set-ntp"),
                fault(
                        "no credentials",
                        credentials,
                        new Access.Key.Missing("none"),
                        ERROR,
                        "none",
                        "AWS_ACCESS_KEY_ID"),
                fault(
                        "a mount whose credentials this process has not",
                        new Access(settings(""), TARGET, Access.Stage.MOUNTED)::credentials,
                        new Access.Key.Missing("none"),
                        NOTE,
                        "does not have the mount's credentials: none",
                        "environment"),
                fault(
                        "a mount whose credentials have expired",
                        new Access(settings(""), TARGET, Access.Stage.MOUNTED)::credentials,
                        key(Duration.ofHours(-2)),
                        ERROR,
                        "expired 2 h ago",
                        "Renew"),
                fault("expired", credentials, key(Duration.ofHours(-2)), ERROR, "expired 2 h ago", "Renew"),
                fault("expiring", credentials, key(Duration.ofMinutes(9)), NOTE, "expires in 9 min", "role"),
                fault(
                        "private cache of temporary credentials",
                        access("cache.private")::credentials,
                        key(Duration.ofHours(9)),
                        WARNING,
                        "cache.private",
                        "Remove cache.private"),
                fault(
                        "no bucket",
                        bucket,
                        failed(new ObjectStoreException.NotFound("there is no bucket", null)),
                        ERROR,
                        "no bucket",
                        "aws s3 mb s3://data"),
                fault(
                        "wrong key",
                        bucket,
                        denied(AccessDenied.Reason.WRONG_CREDENTIALS),
                        ERROR,
                        "denied",
                        "the secret is wrong"),
                fault("expired at the store", bucket, denied(AccessDenied.Reason.EXPIRED), ERROR, "denied", "Renew"),
                fault("refused clock", bucket, denied(AccessDenied.Reason.CLOCK), ERROR, "denied", "clock"),
                fault(
                        "no right to list",
                        bucket,
                        denied(AccessDenied.Reason.NOT_ALLOWED),
                        ERROR,
                        "denied",
                        "\"s3:prefix\": \"a/*\""),
                fault(
                        "public bucket",
                        bucket,
                        new Access.Bucket(new AccessDenied("denied", null), true),
                        NOTE,
                        "without credentials",
                        "s3.anonymous"),
                fault(
                        "no right to read",
                        rights,
                        without(Right.READ),
                        ERROR,
                        "s3:GetObject is not allowed",
                        "arn:aws:s3:::data/a/*"),
                fault(
                        "no right to write",
                        rights,
                        without(Right.WRITE),
                        ERROR,
                        "s3:PutObject is not allowed",
                        "read-only"),
                fault(
                        "no right to delete",
                        rights,
                        without(Right.DELETE),
                        ERROR,
                        "s3:DeleteObject",
                        "\"Action\": \"s3:DeleteObject\""),
                fault(
                        "no right to abort",
                        rights,
                        without(Right.ABORT),
                        WARNING,
                        "s3:AbortMultipartUpload",
                        "Allow it"));
    }

    private static Access access(String settings) {
        return new Access(settings(settings), TARGET, Access.Stage.BEFORE);
    }

    private static Access.Key key(@Nullable Duration left) {
        return new Access.Key.Found("AKIA", "profile", left);
    }

    private static Access.Bucket failed(ObjectStoreException failure) {
        return new Access.Bucket(failure, false);
    }

    private static Access.Bucket denied(AccessDenied.Reason reason) {
        return failed(new AccessDenied("access is denied", reason, null));
    }

    private static Rights.Facts without(Right right) {
        return new Rights.Facts(Set.of(Right.LIST), Map.of(right, "AccessDenied"), Map.of());
    }

    private static Stream<Fault> faultsOfServers() {
        BiConsumer<Quirks.Facts, Findings> quirks = new Quirks(false)::check;
        BiConsumer<List<RangeSpeed>, Findings> network = new Network(settings("readahead.concurrency=8"), DISK)::check;
        return Stream.of(
                fault(
                        "If-Match ignored",
                        quirks,
                        quirks(false, true, true, true),
                        WARNING,
                        "If-Match on GetObject",
                        "server"),
                fault(
                        "start-after ignored",
                        quirks,
                        quirks(true, false, true, true),
                        ERROR,
                        "start-after",
                        "metadata.list-concurrency"),
                fault(
                        "keys changed",
                        quirks,
                        quirks(true, true, false, true),
                        ERROR,
                        "special characters",
                        "plain names"),
                fault(
                        "equal parts only",
                        quirks,
                        quirks(true, true, true, false),
                        WARNING,
                        "unequal sizes",
                        "upload.parts to equal"),
                fault(
                        "checksums refused",
                        quirks,
                        sending(new Upload.Otherwise("400", "write.checksums to md5")),
                        ERROR,
                        "refuses uploads: 400",
                        "Set write.checksums to md5"),
                fault(
                        "uploads refused",
                        quirks,
                        sending(new Upload.Refused("501")),
                        ERROR,
                        "refuses uploads: 501",
                        "read-only"),
                fault(
                        "conditions ignored",
                        quirks,
                        new Quirks.Facts(null, null, null, null, null, Set.of(), Map.of("CopyObject", false)),
                        WARNING,
                        "CopyObject",
                        "one node"),
                fault(
                        "requests not implemented",
                        quirks,
                        new Quirks.Facts(null, null, null, null, null, Set.of("UploadPartCopy"), Map.of()),
                        WARNING,
                        "does not implement UploadPartCopy",
                        "No action is needed"),
                fault(
                        "too few requests",
                        network,
                        speeds(50, 700, 1500),
                        WARNING,
                        "64 concurrent requests",
                        "readahead.concurrency to 64 or more"),
                fault(
                        "disk slower than the network",
                        network,
                        speeds(900, 9000, 9000),
                        NOTE,
                        "disk writes only 3000",
                        "cache.dir"),
                fault("slow network", network, speeds(10, 11, 11), WARNING, "11 MiB/s", "region"),
                fault("no byte", network, speeds(0, 0, 0), ERROR, "no byte", "s3.proxy"),
                fault(
                        "far away",
                        network,
                        List.of(new RangeSpeed(1, 100, Duration.ofMillis(300), Duration.ofMillis(900))),
                        WARNING,
                        "300 ms",
                        "region"));
    }

    private static Quirks.Facts quirks(boolean ifMatch, boolean startAfter, boolean names, boolean parts) {
        return new Quirks.Facts(ifMatch, startAfter, names, parts, new Upload.AsSet(), Set.of(), Map.of());
    }

    private static Quirks.Facts sending(Upload upload) {
        return new Quirks.Facts(null, null, null, null, upload, Set.of(), Map.of());
    }

    private static List<RangeSpeed> speeds(double one, double some, double many) {
        Duration wait = Duration.ofMillis(20);
        return List.of(
                new RangeSpeed(1, one, wait, wait),
                new RangeSpeed(16, some, wait, wait),
                new RangeSpeed(64, many, wait, wait));
    }

    private static Stream<Fault> faultsOfAMount() {
        BiConsumer<MountHealth.Facts, Findings> check = new MountHealth(settings("cache_size=1GiB"))::one;
        return Stream.of(
                fault(
                        "dead",
                        check,
                        new MountHealth.Facts("/mnt/a", false, "", null, ""),
                        ERROR,
                        "has ended",
                        "Mount again"),
                fault(
                        "silent",
                        check,
                        new MountHealth.Facts("/mnt/a", true, "", null, "no response"),
                        ERROR,
                        "no response",
                        "jcmd"),
                fault("disk errors", check, cached(0, 0, 3, 0), ERROR, "3 reads and writes", "cache.dir"),
                fault("damaged pages", check, cached(0, 2, 0, 0), ERROR, "2 cached pages were corrupt", "smartctl"),
                fault("pages not stored", check, cached(0, 0, 0, 500), WARNING, "500 of 1000 pages", "faster disk"),
                fault("cache too small", check, cached(5_000, 0, 0, 0), WARNING, "has evicted 4.9GiB", "which is 1GiB"),
                fault("GETs failed", check, fetched(30, 0, 0), WARNING, "30 of 1000 GETs failed", "log says which"),
                fault(
                        "read ahead in vain",
                        check,
                        fetched(0, 4 * GIB, GIB),
                        NOTE,
                        "1GiB of the 4GiB",
                        "readahead.max-window"),
                fault(
                        "throttled",
                        check,
                        mount(cache(0, 0, 0, 0, 0, 0), GETS, new RequestStatistics(900, 0, 0, 100, 0, 60, 50), 0, ""),
                        WARNING,
                        "throttled 50 of 1000 requests",
                        "upload.concurrency"),
                fault(
                        "files failed",
                        check,
                        mount(cache(0, 0, 0, 0, 0, 0), GETS, 2, ""),
                        ERROR,
                        "2 written files",
                        "penstock recover command that penstock mounts shows"),
                fault(
                        "waits for the store",
                        check,
                        mount(cache(0, 0, 0, 0, 800, 0), GETS, 0, ""),
                        NOTE,
                        "8 readers were waiting for the store",
                        "cache.size"),
                fault(
                        "waits for the disk",
                        check,
                        mount(cache(0, 0, 0, 0, 0, 500), GETS, 0, ""),
                        NOTE,
                        "5 readers were waiting for the cache's disk",
                        "faster disk"),
                fault(
                        "no passthrough",
                        check,
                        mount(cache(0, 0, 0, 0, 0, 0), GETS, 0, "no passthrough (not root)"),
                        NOTE,
                        "not root",
                        "parentheses"));
    }

    private static final ReadaheadStatistics GETS = new ReadaheadStatistics(100, 900, 0, 0, GIB, 0, 0, 0, 0);

    private static MountHealth.Facts cached(long evicted, long corrupt, long errors, long unstored) {
        return mount(cache(evicted, corrupt, errors, unstored, 0, 0), GETS, 0, "");
    }

    private static MountHealth.Facts fetched(long failed, long ahead, long used) {
        return mount(
                cache(0, 0, 0, 0, 0, 0), new ReadaheadStatistics(100, 900, 0, failed, GIB, ahead, used, 0, 0), 0, "");
    }

    private static CacheStatistics cache(
            long evicted, long corrupt, long errors, long unstored, long waitSeconds, long diskSeconds) {
        long second = 1_000_000_000L;
        return new CacheStatistics(
                9,
                9,
                9,
                9,
                0,
                0,
                0,
                waitSeconds * second,
                diskSeconds * second,
                1000,
                0,
                evicted,
                corrupt,
                errors,
                unstored,
                0,
                GIB);
    }

    private static MountHealth.Facts mount(
            CacheStatistics cache, ReadaheadStatistics readahead, int failedFiles, String description) {
        return mount(cache, readahead, new RequestStatistics(1000, 0, 0, 0, 0, 0, 0), failedFiles, description);
    }

    private static MountHealth.Facts mount(
            CacheStatistics cache,
            ReadaheadStatistics readahead,
            RequestStatistics requests,
            int failedFiles,
            String description) {
        WritebackStatistics writing = new WritebackStatistics(0, 0, 0, 0, 0, 0, failedFiles);
        return new MountHealth.Facts(
                "/mnt/a",
                true,
                description,
                new MountStatistics(
                        "s3://data/a",
                        "/mnt/a",
                        4711,
                        100,
                        cache,
                        readahead,
                        requests,
                        new Cost(0, 0),
                        new Saved(0, 0, 0),
                        writing,
                        Map.of(),
                        new InFlight(0, 0),
                        Map.of(),
                        new MountStatistics.Space(0, 0, 0),
                        List.of(),
                        null,
                        null),
                "");
    }

    @ParameterizedTest
    @MethodSource({
        "faultsOfTheMachine",
        "faultsOfDisks",
        "faultsOfSettings",
        "faultsOfTheStore",
        "faultsOfServers",
        "faultsOfAMount"
    })
    void examine_seededFault_isNamedWithWhatMendsIt(Fault fault) {
        assertThat(fault.findings().all()).anySatisfy(finding -> {
            assertThat(finding.severity()).isEqualTo(fault.severity());
            assertThat(finding.found()).contains(fault.named());
            assertThat(finding.why()).isNotEmpty();
            assertThat(finding.remedy()).contains(fault.mended());
        });
    }

    private static Stream<Fault> soundFacts() {
        return Stream.of(
                sound(new Fuse(settings(""))::device, SOUND),
                sound(new Fuse(settings(1000, ""))::device, ofUser(true, false)),
                sound(new Fuse(settings(""))::kernel, SOUND),
                sound(new ProcessLimits(settings(""))::files, SOUND),
                sound(new ProcessLimits(settings(""))::memory, SOUND),
                sound(
                        new ProcessLimits(settings("memory=1GiB,write.memory=1GiB,metadata.preload-memory=1GiB"))
                                ::memory,
                        withMemory(4 * GIB)),
                sound(
                        new ProcessLimits(settings("memory=1GiB,write.memory=1GiB,metadata.preload-memory=1GiB,"
                                + "metadata.preload=off,metadata.refresh=1h"))::memory,
                        withMemory(3 * GIB)),
                sound(Machine::start, SOUND),
                sound(MountHealth::all, new MountHealth.All(List.of(Path.of("/mnt/a")), List.of())),
                sound(SettingConflicts::check, settings("")),
                sound(SettingConflicts::check, settings("ro,anonymous")),
                sound(Disk.ofCache(settings(""))::check, DISK),
                sound(Disk.ofStaging(settings(""))::check, DISK),
                sound(new MountFolders(settings(""))::both, new MountFolders.Facts(DISK, DISK)),
                sound(MountFolders::parents, List.of()),
                sound(MountFolders::log, DISK),
                sound(access("")::server, new Access.Server(null, Duration.ofSeconds(-1))),
                sound(access("cache.private")::credentials, key(null)),
                sound(access("anonymous")::credentials, new Access.Key.Anonymous()),
                sound(access("")::bucket, new Access.Bucket(null, false)),
                sound(new Rights(TARGET, false)::check, new Rights.Facts(Set.of(Right.values()), Map.of(), Map.of())),
                sound(
                        new Rights(TARGET, true)::check,
                        new Rights.Facts(Set.of(Right.LIST, Right.READ), Map.of(), Map.of())),
                sound(new Quirks(false)::check, LIKE_S3),
                sound(new Quirks(true)::check, quirks(true, true, true, false)),
                sound(new Network(settings(""), DISK)::check, speeds(50, 700, 1500)),
                sound(new MountHealth(settings(""))::one, cached(0, 0, 0, 0)));
    }

    private static <F> Fault sound(BiConsumer<F, Findings> check, F facts) {
        return fault("of " + facts, check, facts, OK, "", "");
    }

    @ParameterizedTest
    @MethodSource("soundFacts")
    void examine_nothingWrong_isOkAlone(Fault none) {
        assertThat(none.findings().all())
                .isNotEmpty()
                .allSatisfy(finding -> assertThat(finding.severity()).isEqualTo(OK));
    }
}
