package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class FstabTest {
    private static final List<String> LINES = List.of(
            "# /etc/fstab",
            "/dev/sda1 / ext4 defaults 0 1",
            "#data /mnt/data penstock _netdev 0 0",
            "data\t/mnt/data/\tpenstock\t_netdev,cache_size=1GiB 0 0",
            "data /mnt/with\\040blank fuse.penstock defaults 0 0",
            "data /mnt/tab\\011back\\134slash\\012gr\u00c3\u00b6\u00c3\u009fe penstock defaults 0 0",
            "",
            "broken");

    @Test
    void lineOf_mountPointOfOurs_countedFromOne() {
        assertThat(MountHelperCommand.Fstab.lineOf("data", Path.of("/mnt/data"), LINES))
                .hasValue(4);
        assertThat(MountHelperCommand.Fstab.lineOf("data", Path.of("/mnt/with blank"), LINES))
                .hasValue(5);
        assertThat(MountHelperCommand.Fstab.lineOf("data", Path.of("/mnt/tab\tback\\slash\ngröße"), LINES))
                .hasValue(6);
    }

    @Test
    void lineOf_otherMountPoints_none() {
        assertThat(MountHelperCommand.Fstab.lineOf("data", Path.of("/"), LINES)).isEmpty();
        assertThat(MountHelperCommand.Fstab.lineOf("data", Path.of("/mnt/other"), LINES))
                .isEmpty();
        assertThat(MountHelperCommand.Fstab.lineOf("other", Path.of("/mnt/data"), LINES))
                .isEmpty();
    }
}
