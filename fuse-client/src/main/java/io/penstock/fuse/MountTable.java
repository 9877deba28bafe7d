package io.penstock.fuse;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The mounts in this process's namespace, in the order of mounting: proc_pid_mountinfo(5). Reading it touches no mount,
 * so it works while a mount is dead or hangs.
 */
public final class MountTable {
    private static final Path MOUNTINFO = Path.of("/proc/self/mountinfo");

    /**
     * One mount.
     *
     * @param device its device number, {@code major:minor}
     * @param type such as {@code ext4} or {@code fuse.penstock}
     * @param source such as {@code /dev/sda1} or {@code s3://bucket/prefix}
     */
    public record Entry(String device, Path mountPoint, String type, String source) {
        /** Whether Penstock mounted a bucket here. */
        public boolean isPenstock() {
            return type.equals("fuse.penstock");
        }
    }

    private final List<Entry> entries;

    private MountTable(List<Entry> entries) {
        this.entries = entries;
    }

    public static MountTable read() throws IOException {
        // To the kernel names are bytes: each is decoded separately after its escapes are undone.
        return parse(Files.readAllLines(MOUNTINFO, ISO_8859_1));
    }

    /**
     * The device, {@code major:minor}, of one of the mounts that a process sees; empty if it does not see the mount.
     *
     * @param process a process, or one of its threads
     * @param mount the mount's number in proc_pid_fdinfo(5)
     */
    public static Optional<String> device(int process, int mount) throws IOException {
        Path mounts = Path.of("/proc", Integer.toString(process), "mountinfo");
        try (Stream<String> lines = Files.lines(mounts, ISO_8859_1)) {
            return lines.map(line -> line.split(" ", 4))
                    .filter(fields -> fields[0].equals(Integer.toString(mount)))
                    .map(fields -> fields[2])
                    .findFirst();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    static MountTable parse(List<String> lines) {
        return new MountTable(lines.stream().map(MountTable::parseLine).toList());
    }

    public List<Entry> entries() {
        return entries;
    }

    /** The visible mount at this point: the last one if there are several. Empty if this is no mount point. */
    public Optional<Entry> at(Path mountPoint) {
        return entries.stream().filter(e -> e.mountPoint().equals(mountPoint)).reduce((under, over) -> over);
    }

    /** The mount that contains this path, which has no symbolic links. */
    public Optional<Entry> of(Path path) {
        return entries.stream()
                .filter(e -> path.startsWith(e.mountPoint()))
                .reduce((one, other) ->
                        other.mountPoint().getNameCount() >= one.mountPoint().getNameCount() ? other : one);
    }

    /** The mounts anywhere below this point. */
    public List<Entry> below(Path mountPoint) {
        return entries.stream()
                .filter(e ->
                        e.mountPoint().startsWith(mountPoint) && !e.mountPoint().equals(mountPoint))
                .toList();
    }

    /** {@code 36 35 98:0 /root /mount/point options [optional fields] - type source superblock-options}. */
    private static Entry parseLine(String line) {
        String[] fields = line.split(" ", -1);
        int separator = 6;
        while (!fields[separator].equals("-")) {
            separator++;
        }
        return new Entry(
                fields[2],
                Path.of(unescape(fields[4])),
                unescape(fields[separator + 1]),
                unescape(fields[separator + 2]));
    }

    /**
     * Decodes a field of the mount table or of fstab(5), where space, tab, newline, backslash and hash are written as a
     * backslash and three octal digits.
     *
     * @param field its bytes, each as a character (ISO 8859-1)
     * @throws NumberFormatException if something else follows a backslash
     */
    public static String unescape(String field) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(field.length());
        for (int i = 0; i < field.length(); i++) {
            if (field.charAt(i) == '\\' && i + 3 < field.length()) {
                bytes.write(Integer.parseInt(field, i + 1, i + 4, 8));
                i += 3;
            } else {
                bytes.write(field.charAt(i));
            }
        }
        return bytes.toString(UTF_8);
    }
}
