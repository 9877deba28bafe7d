package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.testing.TestData;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mounting with mount(8) and a line in /etc/fstab, like an administrator. Needs root; restores fstab. */
@Tag("alone")
final class FstabIT {
    private static final S3Server SERVER = S3Server.shared();
    private static final Path FSTAB = Path.of("/etc/fstab");
    private static final int END_SECONDS = 60;
    private static final Path HELPER = Path.of("/sbin/mount.penstock");

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private Path mountPoint;
    private boolean helperIsOurs;

    @BeforeEach
    void installHelper() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can mount by fstab");
        bucket = new TestBucket(SERVER);
        bucket.put(TestData.of("hello.bin", 4321));
        mountPoint = Files.createDirectory(scratch.resolve("mnt"));
        if (Files.exists(FSTAB)) {
            Files.copy(FSTAB, scratch.resolve("fstab"), StandardCopyOption.COPY_ATTRIBUTES);
        }
        helperIsOurs = !Files.exists(HELPER);
        if (helperIsOurs) {
            Files.createSymbolicLink(
                    HELPER, Path.of("..", "bin", "mount.penstock").toRealPath());
        }
        Path aws = scratch.resolve("credentials");
        Files.writeString(
                aws,
                "[default]\naws_access_key_id=%s\naws_secret_access_key=%s\n"
                        .formatted(SERVER.accessKey(), SERVER.secretKey()));
    }

    @AfterEach
    void putBack() throws Exception {
        Program.shell(scratch, "mountpoint -q \"$1\" && umount -l \"$1\"", mountPoint);
        awaitEndOfMount();
        if (Files.exists(scratch.resolve("fstab"))) {
            Files.copy(
                    scratch.resolve("fstab"),
                    FSTAB,
                    StandardCopyOption.REPLACE_EXISTING,
                    StandardCopyOption.COPY_ATTRIBUTES);
        } else {
            Files.deleteIfExists(FSTAB);
        }
        if (helperIsOurs) {
            Files.deleteIfExists(HELPER);
        }
        bucket.close();
    }

    /** mount(8) started the serving process, and umount(8) does not wait for it: it still writes its cache. */
    private void awaitEndOfMount() throws Exception {
        for (ProcessHandle process : ProcessHandle.allProcesses().toList()) {
            if (commandLine(process).contains(mountPoint.toString())) {
                process.onExit().get(END_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    private static String commandLine(ProcessHandle process) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"));
        } catch (IOException e) {
            return "";
        }
    }

    private void addLine(String options) throws Exception {
        String line =
                "%s %s penstock _netdev,nofail,x-systemd.mount-timeout=30,ro,endpoint=%s,path-style,cache=%s,binding=%s%s 0 0%n"
                        .formatted(
                                bucket.name(),
                                mountPoint,
                                SERVER.endpoint(),
                                scratch.resolve("cache"),
                                MountedBucket.BINDING,
                                options);
        Files.writeString(FSTAB, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private Program.Result mountAsSystem() {
        return Program.shell(
                scratch,
                "env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin AWS_SHARED_CREDENTIALS_FILE=\"$1\" mount \"$2\"",
                scratch.resolve("credentials"),
                mountPoint);
    }

    @Tag("binding")
    @Test
    void mount8_ofAnFstabLine_mountsAndUmountEndsIt() throws Exception {
        addLine(",region=us-east-1");
        mountAsSystem().orThrow();
        assertThat(Program.shell(mountPoint, "stat -c %s hello.bin").orThrow()).isEqualTo("4321\n");
        Program.shell(scratch, "umount \"$1\"", mountPoint).orThrow();
        assertThat(MountedBucket.isMounted(mountPoint)).isFalse();
    }

    @Tag("long")
    @Test
    void mount8_ofALineWithPathsToWarm_bringsThemIn() throws Exception {
        addLine(",region=us-east-1,warm_paths=hello.bin");
        mountAsSystem().orThrow();
        Await.until(
                "it is on NVMe",
                () -> Program.shell(
                                scratch,
                                "\"$1\" cache status \"$2\" hello.bin",
                                MountedBucket.penstock().getFirst(),
                                mountPoint)
                        .out()
                        .contains("100%"));
        Program.shell(scratch, "umount \"$1\"", mountPoint).orThrow();
    }

    @Test
    void mount8_ofALineWithAWrongValue_namesTheLineAndTheOption() throws Exception {
        addLine(",region=us-east-1,cache-size=lots");
        int line =
                Files.readString(FSTAB, StandardCharsets.UTF_8).lines().toList().size();
        Program.Result result = mountAsSystem();
        assertThat(result.exit()).isNotZero();
        assertThat(result.out())
                .contains("cache-size", "lots", "/etc/fstab:" + line)
                .doesNotContain("\tat ");
        assertThat(MountedBucket.isMounted(mountPoint)).isFalse();
    }
}
