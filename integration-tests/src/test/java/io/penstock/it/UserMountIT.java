package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.testing.TestData;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Mounts without root's privileges: by an ordinary user, through fusermount3, and on a device that a privileged parent
 * has opened and mounted. Needs root, to become that user.
 */
@Timeout(120)
@Tag("alone")
@Tag("binding")
final class UserMountIT {
    private static final S3Server SERVER = S3Server.shared();

    /** The user nobody, who may read the build's files in any folder but has no other privilege. */
    private static final String AS_USER = "setpriv --reuid=65534 --regid=65534 --clear-groups"
            + " --inh-caps=+dac_read_search --ambient-caps=+dac_read_search --";

    /** Opens the device, mounts it on $1 and becomes the program that follows, with the device as descriptor 9. */
    private static final String HAND_OVER = """
        import ctypes, os, sys
        fd = os.open("/dev/fuse", os.O_RDWR)
        os.dup2(fd, 9)
        options = b"fd=9,rootmode=40000,user_id=65534,group_id=65534,allow_other"
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"s3://handed-over", os.fsencode(sys.argv[1]), b"fuse.penstock", 6, options) != 0:
            sys.exit(os.strerror(ctypes.get_errno()))
        os.execvp(sys.argv[2], sys.argv[2:])
        """;

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private Path mountPoint;

    @BeforeEach
    void prepare() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can become another user");
        bucket = new TestBucket(SERVER);
        bucket.put(TestData.of("hello.bin", 4321));
        mountPoint = Files.createDirectory(scratch.resolve("mnt"));
        // In containers only root may use the device in many cases; elsewhere udev opens it to all.
        Program.shell(scratch, "stat -c %a /dev/fuse >device-mode; chmod 666 /dev/fuse")
                .orThrow();
        Program.shell(scratch, "chown -R 65534:65534 . && chmod 755 .").orThrow();
    }

    @AfterEach
    void takeAway() {
        if (mountPoint != null) {
            Program.shell(Path.of("/"), "umount -l \"$1\" 2>/dev/null", mountPoint);
            Program.shell(scratch, "chmod $(cat device-mode) /dev/fuse").orThrow();
            bucket.close();
        }
    }

    private String start(Object where, String... options) {
        List<String> command = new ArrayList<>(MountedBucket.penstock());
        command.addAll(List.of("mount", bucket.name(), where.toString(), "--foreground", "--region", "us-east-1"));
        command.addAll(List.of("--endpoint", SERVER.endpoint().toString(), "--path-style", "--cache", "cache"));
        command.addAll(List.of("--binding", MountedBucket.BINDING));
        command.addAll(List.of(options));
        return "HOME=$PWD XDG_RUNTIME_DIR=$PWD AWS_ACCESS_KEY_ID=" + SERVER.accessKey() + " AWS_SECRET_ACCESS_KEY="
                + SERVER.secretKey() + " %s '" + String.join("' '", command) + "'";
    }

    private Program.Result inBackground(String command, String then) {
        return Program.shell(
                scratch,
                command + " >log 2>&1 & pid=$!\n"
                        + "for i in $(seq 300); do " + AS_USER
                        + " test -e \"$1/hello.bin\" && break; kill -0 $pid || break;"
                        + " sleep 0.1; done\n"
                        + then + "; status=$?; wait $pid; echo \"ended with $?\"; cat log; exit $status",
                mountPoint);
    }

    @Test
    void mount_byAnOrdinaryUser_servesAndIsUnmountedByIt() {
        String said = inBackground(
                        start(mountPoint).formatted(AS_USER),
                        AS_USER + " stat -c '%s %u' \"$1/hello.bin\" && " + AS_USER + " fusermount3 -u \"$1\"")
                .orThrow();

        assertThat(said).contains("4321 65534", "ended with 0");
    }

    @Test
    void mount_byAnOrdinaryUserForOthers_saysWhatToAllow() throws Exception {
        Path configuration = Path.of("/etc/fuse.conf");
        assumeFalse(
                Files.exists(configuration) && Files.readAllLines(configuration).contains("user_allow_other"),
                "it is allowed on this machine");

        Program.Result result =
                Program.shell(scratch, start(mountPoint, "--allow-other").formatted(AS_USER));

        assertThat(result.exit()).isNotZero();
        assertThat(result.out()).contains("user_allow_other", "/etc/fuse.conf").doesNotContain("\tat ");
    }

    @Test
    void lazyUmount_ofAnothersMount_failsAndSaysWhoMay() throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            Program.Result result = Program.shell(
                    scratch,
                    "HOME=$PWD XDG_RUNTIME_DIR=$PWD " + AS_USER + " \"$1\" umount -l \"$2\"",
                    MountedBucket.penstock().getFirst(),
                    mount.path());

            assertThat(result.exit()).isEqualTo(1);
            assertThat(result.out()).contains("Cannot detach " + mount.path(), "root may");
            assertThat(MountedBucket.isMounted(mount.path())).isTrue();
        }
    }

    @Test
    void mount_ofADeviceHandedOver_servesWhereItIsMounted() throws Exception {
        assumeFalse("jnr".equals(MountedBucket.BINDING), "only the kernel binding takes a device");
        Files.writeString(scratch.resolve("hand-over.py"), HAND_OVER);

        String said = inBackground(
                        start("/dev/fd/9").formatted("python3 hand-over.py \"$1\" " + AS_USER),
                        "stat -c %s \"$1/hello.bin\" && umount \"$1\"")
                .orThrow();

        assertThat(said).contains("4321", "ended with 0");
    }
}
