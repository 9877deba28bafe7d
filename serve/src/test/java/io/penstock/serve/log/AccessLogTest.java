package io.penstock.serve.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.fuse.calls.CallObserver;
import io.penstock.fuse.calls.KernelCall;
import io.penstock.fuse.calls.ObservedCall;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class AccessLogTest {
    private static final Pattern MISSING = Pattern.compile("\\S+ # (\\d+) lines dropped: the disk was too slow");

    @TempDir
    private Path folder;

    private record Ended(
            KernelCall kind, long inode, @Nullable String name, long offset) implements ObservedCall {}

    private static @Nullable String path(long inode) {
        return inode == 1 ? "/" : inode == 7 ? "/a b" : null;
    }

    private static List<String> withoutTime(Path file) throws IOException {
        return Files.readAllLines(file).stream()
                .map(line -> line.substring(line.indexOf(' ') + 1))
                .toList();
    }

    @Test
    void calls_ofAllKinds_haveALineEach() throws IOException {
        Path file = folder.resolve("logs/access.log");
        try (AccessLog log = AccessLog.open(file)) {
            CallObserver observer = log.observer(AccessLogTest::path);
            observer.ended(new Ended(KernelCall.READ, 7, null, 4096), 0, 100, 1_234_567);
            observer.ended(new Ended(KernelCall.LOOKUP, 1, "new\nline", ObservedCall.NO_OFFSET), 2, 0, 5_000);
            observer.ended(new Ended(KernelCall.GETATTR, 0, "/by/path", ObservedCall.NO_OFFSET), 0, 0, 5_000);
            observer.ended(new Ended(KernelCall.RELEASE, 9, null, ObservedCall.NO_OFFSET), 0, 0, 5_000);
            observer.ended(new Ended(KernelCall.RELEASE, 0, null, ObservedCall.NO_OFFSET), 133, 0, 999);
        }
        assertThat(withoutTime(file))
                .containsExactly(
                        "read 4096 100 OK 1234 /a b",
                        "lookup - 0 ENOENT 5 /new\\u000aline",
                        "getattr - 0 OK 5 /by/path",
                        "release - 0 OK 5 inode 9",
                        "release - 0 errno-133 0 -");
        assertThat(Files.readAllLines(file)).allMatch(line -> line.matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:.*"));
        assertThat(Files.getPosixFilePermissions(file)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
    }

    @Test
    void calls_fasterThanTheDisk_areCountedWhereTheyAreMissing() throws IOException {
        Path file = folder.resolve("access.log");
        int calls = 300_000;
        AccessLog log = AccessLog.open(file);
        try (log) {
            CallObserver observer = log.observer(AccessLogTest::path);
            Ended call = new Ended(KernelCall.READ, 7, null, 0);
            for (int i = 0; i < calls; i++) {
                observer.ended(call, 0, 1, 1);
            }
        }
        long written = 0;
        long missing = 0;
        for (String line : Files.readAllLines(file)) {
            Matcher told = MISSING.matcher(line);
            if (told.matches()) {
                missing += Long.parseLong(told.group(1));
            } else {
                written++;
            }
        }
        assertThat(missing + log.missing()).isPositive();
        assertThat(written + missing + log.missing()).isEqualTo(calls);
    }

    @Test
    void open_ofAnUnwritableFile_fails() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));

        assertThatThrownBy(() -> AccessLog.open(file.resolve("access.log"))).isInstanceOf(IOException.class);
    }
}
