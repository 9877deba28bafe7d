package io.penstock.serve.state;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.penstock.fuse.MountTable;
import io.penstock.settings.Host;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The state that a serving process leaves in the runtime folder for other commands: one small file for each process,
 * named by its PID. It is removed when the process ends or, after failed uploads, once penstock umount has read it.
 *
 * @param pid the serving process
 * @param started when that process started, in kernel ticks since boot
 * @param binding the binding that serves it, and the reason
 * @param description the features negotiated with the kernel
 * @param recovery the command that shows its files that could not be uploaded
 * @param log the log file; empty if the log goes to the terminal
 * @param accessLog the file of log.access; empty if there is none
 * @param backlog closed files that are not uploaded yet, in words; empty if there are none
 * @param filesToUpload the same as a number
 * @param bytesToUpload the bytes of them that are not uploaded
 * @param failed the number of written files that wait for penstock recover, including those of earlier mounts
 * @param names the progress of the listing of the whole bucket, in words; empty if there is none
 * @param cacheFault why nothing is cached, in words; empty if data is cached
 * @param unmounted whether the process is unmounted and only uploads
 */
public record RunningMount(
        String source,
        Path mountPoint,
        long pid,
        long started,
        String binding,
        String description,
        Path cache,
        String recovery,
        Path log,
        Path accessLog,
        Instant since,
        String backlog,
        long filesToUpload,
        long bytesToUpload,
        int failed,
        String names,
        String cacheFault,
        boolean unmounted) {
    private static final String SUFFIX = ".properties";
    private static final String STARTED = "started";
    private static final String RECOVERY = "recovery";
    private static final String ACCESS_LOG = "access-log";
    private static final String BACKLOG = "backlog";
    private static final String FAILED = "failed";
    private static final String NAMES = "names";
    private static final String FILES = "files-to-upload";
    private static final String BYTES = "bytes-to-upload";
    private static final String CACHE_FAULT = "cache-fault";
    private static final String UNMOUNTED = "unmounted";

    /** The index of a process's start time in {@link #stat}, whose first field is 3. */
    private static final int START = 22 - 3;

    /** The state of a process that has just begun to serve. */
    public RunningMount(
            String source,
            Path mountPoint,
            long pid,
            String binding,
            String description,
            Path cache,
            String recovery,
            Path log,
            Path accessLog,
            Instant since) {
        this(
                source,
                mountPoint,
                pid,
                startOf(pid),
                binding,
                description,
                cache,
                recovery,
                log,
                accessLog,
                since,
                "",
                0,
                0,
                0,
                "",
                "",
                false);
    }

    public RunningMount withBacklog(String left, int failedFiles, boolean isUnmounted) {
        return with(left, filesToUpload, bytesToUpload, failedFiles, names, cacheFault, isUnmounted);
    }

    /** Sets the numbers of {@link #withBacklog}. */
    public RunningMount withNumbers(long files, long bytes) {
        return with(backlog, files, bytes, failed, names, cacheFault, unmounted);
    }

    public RunningMount withNames(String listed) {
        return with(backlog, filesToUpload, bytesToUpload, failed, listed, cacheFault, unmounted);
    }

    public RunningMount withCacheFault(String why) {
        return with(backlog, filesToUpload, bytesToUpload, failed, names, why, unmounted);
    }

    private RunningMount with(
            String left, long files, long bytes, int failedFiles, String listed, String why, boolean isUnmounted) {
        return new RunningMount(
                source,
                mountPoint,
                pid,
                started,
                binding,
                description,
                cache,
                recovery,
                log,
                accessLog,
                since,
                left,
                files,
                bytes,
                failedFiles,
                listed,
                why,
                isUnmounted);
    }

    /** Whether it logs to the file. */
    public boolean writesTo(Path file) {
        return file.equals(log) || file.equals(accessLog);
    }

    /** Replaces the file of this process atomically: readers see the old or the new state. */
    public void save(Host host) throws IOException {
        Properties properties = new Properties();
        properties.setProperty("source", source);
        properties.setProperty("mount-point", mountPoint.toString());
        properties.setProperty(STARTED, Long.toString(started));
        properties.setProperty("binding", binding);
        properties.setProperty("description", description);
        properties.setProperty("cache", cache.toString());
        properties.setProperty(RECOVERY, recovery);
        properties.setProperty("log", log.toString());
        properties.setProperty(ACCESS_LOG, accessLog.toString());
        properties.setProperty("since", since.toString());
        properties.setProperty(BACKLOG, backlog);
        properties.setProperty(FILES, Long.toString(filesToUpload));
        properties.setProperty(BYTES, Long.toString(bytesToUpload));
        properties.setProperty(CACHE_FAULT, cacheFault);
        properties.setProperty(FAILED, Integer.toString(failed));
        properties.setProperty(NAMES, names);
        properties.setProperty(UNMOUNTED, Boolean.toString(unmounted));
        Path folder = RuntimeFolder.open(host);
        Path next = next(folder);
        Files.deleteIfExists(next); // left by a killed process with this PID
        try (Writer writer = Files.newBufferedWriter(next, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            properties.store(writer, null);
        }
        if (host.isRoot()) {
            Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rw-r--r--"));
        }
        Files.move(next, file(folder), StandardCopyOption.ATOMIC_MOVE);
    }

    /** The file's current contents; empty if the file is gone. */
    public Optional<RunningMount> now(Host host) {
        return load(file(host.runtimeFolder()));
    }

    /** Removes the state file, and what a killed process left next to it. */
    public void delete(Host host) throws IOException {
        Files.deleteIfExists(file(host.runtimeFolder()));
        Files.deleteIfExists(next(host.runtimeFolder()));
        Files.deleteIfExists(socket(host));
    }

    /**
     * Whether the process still serves: it exists, is not another process with the same PID, and is not a zombie, which
     * in a container may remain long after its end. Ticks since boot do not change when the clock is set.
     */
    public boolean isAlive() {
        List<String> stat = stat(pid);
        return !stat.isEmpty() && !stat.getFirst().equals("Z") && started == start(stat);
    }

    /** Whether a signal such as SIGSTOP or a debugger has stopped the process: it serves nothing. */
    public boolean isStopped() {
        List<String> stat = stat(pid);
        return isAlive() && (stat.getFirst().equals("T") || stat.getFirst().equals("t"));
    }

    private static long startOf(long pid) {
        List<String> stat = stat(pid);
        return stat.isEmpty() ? 0 : start(stat);
    }

    private static long start(List<String> stat) {
        return Long.parseLong(stat.get(START));
    }

    /** The fields after the command's name, which is in parentheses: proc_pid_stat(5). Empty if there is no process. */
    private static List<String> stat(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"), ISO_8859_1);
            return List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1));
        } catch (IOException e) {
            return List.of();
        }
    }

    /** The mount points of all Penstock mounts, of any user. */
    public static List<Path> mountPoints(List<MountTable.Entry> table) {
        return table.stream()
                .filter(RunningMount::isPenstock)
                .map(MountTable.Entry::mountPoint)
                .distinct()
                .toList();
    }

    /** Whether a line of the mount table is a Penstock mount. */
    public static boolean isPenstock(MountTable.Entry entry) {
        return entry.type().startsWith("fuse") && entry.source().startsWith("s3://");
    }

    /** All states that this user may see, in order of mount point, including those of dead processes. */
    public static List<RunningMount> list(Host host) throws IOException {
        List<RunningMount> found = new ArrayList<>();
        for (Path folder : new LinkedHashSet<>(List.of(host.runtimeFolder(), RuntimeFolder.OF_ROOT))) {
            if (RuntimeFolder.isTrusted(folder, host)) {
                try (Stream<Path> files = Files.list(folder)) {
                    files.filter(file -> file.toString().endsWith(SUFFIX))
                            .forEach(file -> load(file).ifPresent(found::add));
                } catch (AccessDeniedException e) {
                    // This user may not read it.
                }
            }
        }
        found.sort(Comparator.comparing(RunningMount::mountPoint));
        return found;
    }

    /**
     * The live process that mounted there last: among those that still serve, or among those that only upload. A mount
     * point may have several of the latter.
     */
    public static Optional<RunningMount> newest(List<RunningMount> running, Path mountPoint, boolean unmounted) {
        return running.stream()
                .filter(each ->
                        each.unmounted() == unmounted && each.mountPoint().equals(mountPoint) && each.isAlive())
                .max(Comparator.comparing(RunningMount::since));
    }

    /** The folder for what successors of serving processes must know. */
    public static Path tables(Host host) throws IOException {
        return RuntimeFolder.open(host);
    }

    /** Removes the files of ended processes whose mounts are gone too. */
    public static void forgetEnded(Host host, List<MountTable.Entry> table) throws IOException {
        Set<Path> mounted = table.stream().map(MountTable.Entry::mountPoint).collect(Collectors.toSet());
        for (RunningMount running : list(host)) {
            if (!running.isAlive() && (running.unmounted() || !mounted.contains(running.mountPoint()))) {
                running.delete(host);
            }
        }
    }

    /** Empty if the file cannot be read: its process may end and remove it after the listing. */
    private static Optional<RunningMount> load(Path file) {
        try {
            Properties properties = new Properties();
            try (Reader reader = Files.newBufferedReader(file)) {
                properties.load(reader);
            }
            String name = file.getFileName().toString();
            return Optional.of(new RunningMount(
                    properties.getProperty("source", ""),
                    Path.of(properties.getProperty("mount-point", "")),
                    Long.parseLong(name.substring(0, name.length() - SUFFIX.length())),
                    Long.parseLong(properties.getProperty(STARTED, "0")),
                    properties.getProperty("binding", ""),
                    properties.getProperty("description", ""),
                    Path.of(properties.getProperty("cache", "")),
                    properties.getProperty(RECOVERY, ""),
                    Path.of(properties.getProperty("log", "")),
                    Path.of(properties.getProperty(ACCESS_LOG, "")),
                    Instant.parse(properties.getProperty("since", "")),
                    properties.getProperty(BACKLOG, ""),
                    Long.parseLong(properties.getProperty(FILES, "0")),
                    Long.parseLong(properties.getProperty(BYTES, "0")),
                    Integer.parseInt(properties.getProperty(FAILED, "0")),
                    properties.getProperty(NAMES, ""),
                    properties.getProperty(CACHE_FAULT, ""),
                    Boolean.parseBoolean(properties.getProperty(UNMOUNTED, ""))));
        } catch (IOException | IllegalArgumentException | DateTimeException e) {
            return Optional.empty();
        }
    }

    /** The socket on which the process serves commands of its user and of root. */
    public Path socket(Host host) {
        return socket(host.runtimeFolder());
    }

    /**
     * The same, for the process itself.
     *
     * @throws IOException if other users may write to its folder
     */
    public Path openSocket(Host host) throws IOException {
        return socket(RuntimeFolder.open(host));
    }

    private Path socket(Path folder) {
        return folder.resolve(pid + ".socket");
    }

    private Path file(Path folder) {
        return folder.resolve(pid + SUFFIX);
    }

    /** Where {@link #save} writes before the rename. */
    private Path next(Path folder) {
        return folder.resolve(pid + SUFFIX + ".next");
    }
}
