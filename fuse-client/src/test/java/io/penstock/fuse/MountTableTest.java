package io.penstock.fuse;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class MountTableTest {
    private static final String ROOT = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard";
    private static final String BUCKET =
            "42 22 0:39 / /mnt/x rw,nosuid,nodev - fuse.penstock s3://bucket/a rw,user_id=0,group_id=0";

    @Test
    void parse_lineWithOptionalFields_findsTheFieldsAfterThem() {
        MountTable table = MountTable.parse(
                List.of("36 35 98:0 /a /b rw,noatime master:1 propagate_from:2 unbindable - ext3 /dev/root rw"));

        assertThat(table.entries()).containsExactly(new MountTable.Entry("98:0", Path.of("/b"), "ext3", "/dev/root"));
    }

    @Test
    void parse_lineWithoutOptionalFields_isRead() {
        assertThat(MountTable.parse(List.of(BUCKET)).entries())
                .containsExactly(new MountTable.Entry("0:39", Path.of("/mnt/x"), "fuse.penstock", "s3://bucket/a"));
    }

    @Test
    void parse_escapedNames_areDecoded() {
        // The kernel's line for "/mnt/größe a\b#", with each byte as a character.
        MountTable table = MountTable.parse(
                List.of("42 22 0:39 / /mnt/gr\u00c3\u00b6\u00c3\u009fe\\040a\\134b\\043 rw - fuse.p s3://b\\011c rw"));

        assertThat(table.entries())
                .containsExactly(new MountTable.Entry("0:39", Path.of("/mnt/größe a\\b#"), "fuse.p", "s3://b\tc"));
    }

    @Test
    void parse_emptySource_isEmpty() {
        assertThat(MountTable.parse(List.of("42 22 0:39 / /mnt rw - tmpfs  rw")).entries())
                .extracting(MountTable.Entry::source)
                .containsExactly("");
    }

    @Test
    void at_mountOverMount_isTheUpper() {
        MountTable table = MountTable.parse(List.of(ROOT, BUCKET, BUCKET.replace("0:39", "0:40")));

        assertThat(table.at(Path.of("/mnt/x"))).map(MountTable.Entry::device).contains("0:40");
        assertThat(table.at(Path.of("/mnt"))).isEmpty();
    }

    @Test
    void of_aPathWithinMounts_isTheInnermost() {
        MountTable table = MountTable.parse(
                List.of(BUCKET.replace("/mnt/x", "/mnt/x/inner"), ROOT, BUCKET, BUCKET.replace("0:39", "0:40")));

        assertThat(table.of(Path.of("/mnt/x/a"))).map(MountTable.Entry::device).contains("0:40");
        assertThat(table.of(Path.of("/mnt/x/inner")))
                .map(MountTable.Entry::mountPoint)
                .contains(Path.of("/mnt/x/inner"));
        assertThat(table.of(Path.of("/mnt/xy"))).map(MountTable.Entry::type).contains("ext4");
    }

    @Test
    void below_mountsInside_leavesOutTheMountItselfAndItsNeighbours() {
        MountTable table = MountTable.parse(
                List.of(ROOT, BUCKET, BUCKET.replace("/mnt/x", "/mnt/x/inner"), BUCKET.replace("/mnt/x", "/mnt/xy")));

        assertThat(table.below(Path.of("/mnt/x")))
                .extracting(MountTable.Entry::mountPoint)
                .containsExactly(Path.of("/mnt/x/inner"));
    }

    @Test
    void read_thisMachine_hasARoot() throws IOException {
        assertThat(MountTable.read().at(Path.of("/"))).isPresent();
    }
}
