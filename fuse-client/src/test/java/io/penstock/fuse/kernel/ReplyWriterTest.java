package io.penstock.fuse.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.Attributes;
import io.penstock.filesystem.FileSystem;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.kernel.OpenFile.PageCachePolicy;
import io.penstock.fuse.kernel.Layouts.AttrOut;
import io.penstock.fuse.kernel.Layouts.EntryOut;
import io.penstock.fuse.kernel.Layouts.OpenOut;
import io.penstock.testing.Seeded;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReplyWriterTest {
    // open(2).
    private static final int O_RDWR = 2;
    private static final int O_CREAT = 0100;
    private static final int O_TRUNC = 01000;

    private static final Attributes FILE = new Attributes(
            0x1122,
            Attributes.S_IFREG | 0644,
            1,
            1000,
            1001,
            5000,
            Instant.ofEpochSecond(1_700_000_000, 123_456_789),
            Instant.ofEpochSecond(1_700_000_001, 123_456_790),
            Instant.ofEpochSecond(1_700_000_002, 123_456_791),
            0x0801,
            1_500_000_000,
            0x1122);

    private final ReplyWriter answers = new ReplyWriter(new CachingLimit(Duration.ofSeconds(60)), true);
    private final Reply reply = new Reply(8192);

    @Test
    void entry_overAnEarlierAnswer_isEveryByteOfTheStruct() {
        dirty();

        int length = answers.entry(reply, FILE);

        // struct fuse_entry_out as a C compiler lays it out on x86-64, field by field.
        assertThat(body(length)).isEqualTo(hex("""
            2211000000000000 0000000000000000 0100000000000000 0100000000000000 0065cd1d 0065cd1d\
            2211000000000000 8813000000000000 0a00000000000000\
            01f1536500000000 00f1536500000000 02f1536500000000 16cd5b07 15cd5b07 17cd5b07\
            a4810000 01000000 e8030000 e9030000 01080000 00000200 00000000\
            """));
    }

    @Test
    void attributes_overAnEarlierAnswer_isEveryByteOfTheStruct() {
        dirty();

        int length = answers.attributes(reply, FILE);

        assertThat(body(length)).isEqualTo(hex("""
            0100000000000000 0065cd1d 00000000\
            2211000000000000 8813000000000000 0a00000000000000\
            01f1536500000000 00f1536500000000 02f1536500000000 16cd5b07 15cd5b07 17cd5b07\
            a4810000 01000000 e8030000 e9030000 01080000 00000200 00000000\
            """));
    }

    @Test
    void noEntry_hasNoNodeAndATimeout() {
        dirty();

        ByteBuffer entry =
                reply.body(answers.noEntry(reply, 1_500_000_000)).slice().order(ByteOrder.nativeOrder());

        assertThat(entry.getLong(EntryOut.NODEID)).isZero();
        assertThat(entry.getLong(EntryOut.ENTRY_VALID)).isOne();
        assertThat(entry.getInt(EntryOut.ENTRY_VALID_NSEC)).isEqualTo(500_000_000);
    }

    @Test
    void attributes_validForLongerThanConfigured_areCutToWhatHoldsNow() {
        CachingLimit limit = new CachingLimit(Duration.ZERO);
        ReplyWriter cutting = new ReplyWriter(limit, true);
        assertThat(validSeconds(cutting)).isZero();
        limit.set(Duration.ofSeconds(1));
        assertThat(validSeconds(cutting)).isOne();
        limit.set(Duration.ZERO);
        assertThat(validSeconds(cutting)).isZero();
    }

    private long validSeconds(ReplyWriter cutting) {
        ByteBuffer attributes =
                reply.body(cutting.attributes(reply, FILE)).slice().order(ByteOrder.nativeOrder());
        assertThat(attributes.getInt(AttrOut.ATTR_VALID_NSEC)).isZero();
        return attributes.getLong(AttrOut.ATTR_VALID);
    }

    @Test
    void opened_policies_becomeTheKernelsFlags() {
        assertThat(openFlags(PageCachePolicy.KEEP)).isEqualTo(OpenOut.FOPEN_KEEP_CACHE);
        assertThat(openFlags(PageCachePolicy.INVALIDATE)).isZero();
        assertThat(openFlags(PageCachePolicy.BYPASS)).isEqualTo(OpenOut.FOPEN_DIRECT_IO);
    }

    @Test
    void opened_readOnly_isNotFlushedAtItsCloseUnlessItIsMadeOrCut() {
        assertThat(openFlags(PageCachePolicy.KEEP, 0)).isEqualTo(OpenOut.FOPEN_KEEP_CACHE | OpenOut.FOPEN_NOFLUSH);
        assertThat(openFlags(PageCachePolicy.KEEP, O_TRUNC)).isEqualTo(OpenOut.FOPEN_KEEP_CACHE);
        assertThat(openFlags(PageCachePolicy.KEEP, O_CREAT)).isEqualTo(OpenOut.FOPEN_KEEP_CACHE);
    }

    @Test
    void opened_toWriteDirectly_goesPastThePagesBySeveralAtATime() {
        int direct = System.getProperty("os.arch").equals("aarch64") ? 0200000 : 040000;

        assertThat(openFlags(PageCachePolicy.KEEP, O_RDWR | direct))
                .isEqualTo(OpenOut.FOPEN_KEEP_CACHE | OpenOut.FOPEN_DIRECT_IO | OpenOut.FOPEN_PARALLEL_DIRECT_WRITES);
    }

    @Test
    void value_withoutRoom_isItsLength() throws ErrnoException {
        assertThat(answers.value(reply, new byte[300], 0)).isEqualTo(8);
        assertThat(reply.body(8).slice().order(ByteOrder.nativeOrder()).getInt(0))
                .isEqualTo(300);
    }

    @Test
    void value_withTooLittleRoom_isErange() {
        assertThatThrownBy(() -> answers.value(reply, new byte[300], 299))
                .isInstanceOfSatisfying(
                        ErrnoException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ERANGE));
    }

    /**
     * An entry that fits is parsed like in the kernel (fuse_emit in fs/fuse/readdir.c); the reply never exceeds the
     * room.
     */
    @Test
    void directoryWriter_generatedNames_areReadBack() {
        Seeded.check(200, random -> {
            boolean plus = random.nextBoolean();
            int room = random.nextInt(0, 4096);
            dirty();
            DirectoryWriter writer = new DirectoryWriter(answers, reply, room, plus);
            List<String> taken = new ArrayList<>();
            while (true) {
                String name = "ü".repeat(random.nextInt(0, 60)) + "x".repeat(random.nextInt(1, 100));
                if (!writer.add(name, FILE, taken.size() + 1)) {
                    break;
                }
                taken.add(name);
            }
            assertThat(writer.length()).isLessThanOrEqualTo(room);
            assertThat(names(writer.length(), plus)).isEqualTo(taken);
        });
    }

    @Test
    void directoryWriter_plus_dotsAreNotLookedUp() {
        DirectoryWriter writer = new DirectoryWriter(answers, reply, 4096, true);
        writer.add(".", FILE, 1);
        int second = writer.length();
        writer.add("..", FILE, 2);
        int third = writer.length();
        writer.add("a", FILE, 3);

        ByteBuffer entries = reply.body(writer.length()).slice().order(ByteOrder.nativeOrder());
        assertThat(entries.getLong(EntryOut.NODEID)).isZero();
        assertThat(entries.getLong(second + EntryOut.NODEID)).isZero();
        assertThat(entries.getLong(third + EntryOut.NODEID)).isEqualTo(FILE.inode());
    }

    @Test
    void directoryWriter_plusWithoutAnInodeNumber_isNotLookedUp() {
        DirectoryWriter writer = new DirectoryWriter(answers, reply, 4096, true);
        Instant time = Instant.EPOCH;
        writer.add(
                "a",
                new Attributes(
                        FileSystem.UNKNOWN_INODE,
                        Attributes.S_IFREG,
                        1,
                        0,
                        0,
                        0,
                        time,
                        time,
                        time,
                        0,
                        0,
                        FileSystem.UNKNOWN_INODE),
                1);

        ByteBuffer entry = reply.body(writer.length()).slice().order(ByteOrder.nativeOrder());
        assertThat(entry.getLong(EntryOut.NODEID)).isZero();
    }

    private List<String> names(int length, boolean plus) {
        ByteBuffer entries = reply.body(length).slice().order(ByteOrder.nativeOrder());
        List<String> names = new ArrayList<>();
        int at = 0;
        while (at < length) {
            int dirent = at + (plus ? 128 : 0);
            assertThat(entries.getLong(dirent)).isEqualTo(FILE.inode());
            assertThat(entries.getLong(dirent + 8)).isEqualTo(names.size() + 1);
            byte[] name = new byte[entries.getInt(dirent + 16)];
            assertThat(entries.getInt(dirent + 20)).as("DT_REG").isEqualTo(8);
            entries.get(dirent + 24, name);
            names.add(new String(name, StandardCharsets.UTF_8));
            int end = dirent + 24 + name.length;
            while (end % 8 != 0) {
                assertThat(entries.get(end++)).as("padding").isZero();
            }
            at = end;
        }
        assertThat(at).isEqualTo(length);
        return names;
    }

    private int openFlags(PageCachePolicy policy) {
        return openFlags(policy, O_RDWR);
    }

    private int openFlags(PageCachePolicy policy, int flags) {
        return reply.body(answers.opened(reply, new OpenFile(7, policy), flags))
                .slice()
                .order(ByteOrder.nativeOrder())
                .getInt(OpenOut.OPEN_FLAGS);
    }

    private void dirty() {
        ByteBuffer all = reply.body(reply.capacity());
        while (all.hasRemaining()) {
            all.put((byte) 0x5a);
        }
    }

    private String body(int length) {
        byte[] bytes = new byte[length];
        reply.body(length).get(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private static String hex(String text) {
        return text.replace(" ", "");
    }
}
