package io.penstock.fuse;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.calls.CallObserver;
import io.penstock.fuse.kernel.KernelBinding;
import io.penstock.testing.TestData;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

class KernelWritingIT extends WritingContract {
    private static final int MIB = 1 << 20;

    @Override
    Mount mount(FileSystem fileSystem, MountOptions options) throws MountException, InterruptedException {
        return KernelBinding.mount(fileSystem, options, CallObserver.NONE);
    }

    @Test
    void list_again_afterAnUnlinkTwoLevelsDown_comesFromTheKernel() throws Exception {
        for (int i = 0; i < 2_000; i++) {
            mounted().bucket.put("dir/" + i, "");
        }
        mounted().bucket.put("dir/e/a", "");
        mounted().bucket.put("dir/e/b", "");
        mounted().sh("ls dir > /dev/null && rm dir/e/a");
        long before = mounted().requests();

        mounted().sh("test $(ls dir | wc -l) = 2001");

        assertThat(mounted().requests() - before).isLessThan(20);
    }

    /** Direct writes bypass the kernel's page cache, which mapped memory uses. */
    @Test
    void mmap_sharedOfAFileOpenedDirectly_readsAndWritesIt() throws Exception {
        assumeTrue(installed("python3"));
        mounted().bucket.put("f", new byte[100_000]);

        mounted().sh("""
            python3 - <<'END'
            import mmap, os
            f = os.open("f", os.O_RDWR | os.O_DIRECT)
            os.pwrite(f, b"written", 0)
            m = mmap.mmap(f, 0)
            assert m[:7] == b"written"
            m[8192:8198] = b"mapped"
            assert os.pread(f, 6, 8192) == b"mapped"
            os.pwrite(f, b"again", 0)
            assert m[:7] == b"againen"
            m[90000:90004] = b"last"
            m.close()
            os.close(f)
            END
            """);

        byte[] expected = new byte[100_000];
        put(expected, 0, "againen");
        put(expected, 8192, "mapped");
        put(expected, 90_000, "last");
        assertThat(mounted().stored("f")).isEqualTo(expected);
    }

    private static void put(byte[] to, int at, String text) {
        System.arraycopy(text.getBytes(US_ASCII), 0, to, at, text.length());
    }

    /** Files.copy and, since version 9, cp use copy_file_range(2), which libfuse 2 does not support. */
    @Test
    void copy_ofALargeFile_uploadsNoByte() throws Exception {
        byte[] bytes = new TestData("x", 64 * MIB, 0).bytes();
        mounted().bucket.put("file", bytes);

        Files.copy(path("file"), path("copy"));

        assertThat(mounted().statistics().uploadedBytes()).isZero();
        assertThat(mounted().statistics().copiedBytes()).isEqualTo(64L * MIB);
        assertThat(mounted().stored("copy")).isEqualTo(bytes);
        mounted().sh("cp --reflink=auto file again && cmp file again && cmp copy again");
        assertThat(mounted().stored("again")).isEqualTo(bytes);
        remount();
        assertThat(Files.readAllBytes(path("copy"))).isEqualTo(bytes);
    }

    @Test
    void copy_ofMoreThanTheKernelPassesOnAtOnce_isCommittedOnce() throws Exception {
        long size = 5L << 30;
        mounted().bucket.putTestData("file", size);

        Files.copy(path("file"), path("copy"));

        assertThat(mounted().statistics().uploadedBytes()).isZero();
        assertThat(mounted().statistics().copiedBytes()).isEqualTo(size);
        assertThat(Files.size(path("copy"))).isEqualTo(size);
        ByteBuffer expected = ByteBuffer.allocate(MIB);
        TestData.of("file", size).read((2L << 30) - MIB / 2, expected);
        ByteBuffer actual = ByteBuffer.allocate(MIB);
        try (FileChannel copy = FileChannel.open(path("copy"))) {
            while (actual.hasRemaining() && copy.read(actual, (2L << 30) - MIB / 2 + actual.position()) > 0) {}
        }
        assertThat(actual.array()).isEqualTo(expected.array());
    }
}
