package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.fuse.MountTable;
import io.penstock.serve.state.RunningMount;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MountsCommandTest {
    /** Larger than any process ID: proc_sys_kernel(5), pid_max. */
    private static final long NO_PROCESS = 1L << 30;

    private static final String SOURCE = "s3://a";

    @Test
    void mounts_oursAmongOthers_deadOnesMarked() {
        RunningMount dead = mount("/mnt/a", NO_PROCESS, Instant.now());
        String table = MountsCommand.table(MountsCommand.rows(
                List.of(
                        new MountTable.Entry("0:1", Path.of("/"), "ext4", "/dev/sda1"),
                        new MountTable.Entry("0:2", Path.of("/mnt/a"), "fuse.penstock", SOURCE),
                        new MountTable.Entry("0:3", Path.of("/mnt/b"), "fuse", "s3://other"),
                        new MountTable.Entry("0:4", Path.of("/mnt/c"), "fuse.sshfs", "host:/")),
                List.of(dead),
                Optional::of));
        assertThat(heads(table))
                .hasSize(3)
                .satisfies(lines -> assertThat(lines.get(0)).startsWith("BUCKET      MOUNT POINT  PID   SINCE"))
                .satisfies(lines -> assertThat(lines.get(1)).startsWith("s3://a      /mnt/a       DEAD  20"))
                .satisfies(lines -> assertThat(lines.get(2)).startsWith("s3://other  /mnt/b       ?"));
    }

    @Test
    void mounts_whatIsLeftToUpload_isShownAlsoOnceItIsUnmounted() {
        long pid = ProcessHandle.current().pid();
        Instant since = Instant.now().plusSeconds(1);
        String table = MountsCommand.table(MountsCommand.rows(
                List.of(
                        new MountTable.Entry("0:2", Path.of("/mnt/a"), "fuse.penstock", SOURCE),
                        new MountTable.Entry("0:3", Path.of("/mnt/b"), "fuse.penstock", SOURCE)),
                List.of(
                        mount("/mnt/a", pid, since).withBacklog("1 file, 5MiB", 0, true),
                        mount("/mnt/a", pid, since),
                        mount("/mnt/b", pid, since).withBacklog("2 files, 36MiB", 1, false)),
                Optional::of));
        assertThat(heads(table))
                .hasSize(4)
                .satisfies(lines -> assertThat(lines.get(0)).contains("TO UPLOAD"))
                .satisfies(lines -> assertThat(lines.get(1)).contains("/mnt/a", " nothing"))
                .satisfies(lines -> assertThat(lines.get(2)).contains("/mnt/b", " 2 files, 36MiB"))
                .satisfies(lines -> assertThat(lines.get(3)).contains("(unmounted)", " 1 file, 5MiB"));
        assertThat(table).contains("\n  failed uploads: 1; see penstock recover ");
    }

    /** As after umount -l. */
    @Test
    void mounts_processOfADetachedMount_isShown() {
        RunningMount detached = mount("/mnt/a", ProcessHandle.current().pid(), Instant.EPOCH);
        RunningMount next = mount("/mnt/a", ProcessHandle.current().pid(), Instant.now());
        RunningMount gone = mount("/mnt/b", NO_PROCESS, Instant.EPOCH);
        List<MountsCommand.Row> rows = MountsCommand.rows(
                List.of(new MountTable.Entry("0:2", Path.of("/mnt/a"), "fuse.penstock", SOURCE)),
                List.of(detached, next, gone),
                Optional::of);
        assertThat(heads(MountsCommand.table(rows)))
                .hasSize(3)
                .satisfies(lines -> assertThat(lines.get(1)).contains(" /mnt/a "))
                .satisfies(lines -> assertThat(lines.get(2)).contains(" (detached) "));
        assertThat(MountsCommand.json(rows)).containsSubsequence("\"serving\"", "\"detached\"");
    }

    @Test
    void mounts_unmountedAfterItsStateWasRead_isNotShownAsDetached() {
        RunningMount before = mount("/mnt/a", ProcessHandle.current().pid(), Instant.EPOCH);
        assertThat(MountsCommand.rows(List.of(), List.of(before), _ -> Optional.empty()))
                .isEmpty();
        assertThat(MountsCommand.table(MountsCommand.rows(
                        List.of(),
                        List.of(before),
                        process -> Optional.of(process.withBacklog("1 file, 5MiB", 0, true)))))
                .contains(" (unmounted) ", " 1 file, 5MiB")
                .doesNotContain("(detached)");
    }

    @Test
    void json_eachMount_hasItsStateAndWhatIsLeft() throws Exception {
        RunningMount serving = mount("/mnt/a", ProcessHandle.current().pid(), Instant.EPOCH)
                .withBacklog("2 files, 36MiB", 1, false)
                .withNumbers(2, 37_748_737);
        String json = MountsCommand.json(List.of(
                new MountsCommand.Row(SOURCE, Path.of("/mnt/a"), true, serving),
                new MountsCommand.Row(SOURCE, Path.of("/mnt/b"), true, null)));
        assertThat(json)
                .startsWith("[{\"source\":\"" + SOURCE + "\",\"mountPoint\":\"/mnt/a\",\"state\":\"serving\",\"pid\":")
                .contains("\"toUpload\":\"2 files, 36MiB\",\"filesToUpload\":2,\"bytesToUpload\":37748737,\"failed\":1")
                .endsWith(",{\"source\":\"" + SOURCE + "\",\"mountPoint\":\"/mnt/b\",\"state\":\"unknown\"}]");
    }

    @Test
    void mounts_longPathsAndReasons_fitAHundredColumnsWithFaultsFirst() {
        String path = "/mnt/" + "deep/".repeat(11);
        RunningMount mount = mount(path, ProcessHandle.current().pid(), Instant.now())
                .withCacheFault(
                        "less space is free on the cache disk than cache.min-free; free space, lower cache.min-free")
                .withBacklog("12 files, 36MiB", 1, false);
        String table = MountsCommand.table(List.of(
                new MountsCommand.Row(SOURCE, Path.of(path), true, mount),
                new MountsCommand.Row(SOURCE, Path.of("/mnt/b"), true, mount)));
        assertThat(table.lines()).allMatch(line -> line.length() <= 100);
        assertThat(table)
                .containsSubsequence(
                        path.replaceFirst("/$", ""), "failed uploads: 1", "nothing is cached: less", "cache: ");
    }

    private static List<String> heads(String table) {
        return table.lines().filter(line -> !line.startsWith("  ")).toList();
    }

    private static RunningMount mount(String mountPoint, long pid, Instant since) {
        return new RunningMount(
                SOURCE,
                Path.of(mountPoint),
                pid,
                "kernel (why)",
                "how",
                Path.of("/cache"),
                "penstock recover s3://a --cache /cache",
                Path.of("/log"),
                Path.of(""),
                since);
    }
}
