package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.NativeMemory.Share;
import io.penstock.fuse.kernel.Layouts.GetxattrIn;
import io.penstock.fuse.kernel.Layouts.InHeader;
import io.penstock.fuse.kernel.Layouts.OpenIn;
import io.penstock.fuse.kernel.Layouts.ReadIn;
import io.penstock.testing.Seeded;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class RequestTest {
    private static final int CAPACITY = 8192;

    private final Request request = new Request(Reply.aligned(Share.REQUESTS, CAPACITY));

    // Recorded with strace from a libfuse 3 server on Linux 6.18.

    @Test
    void received_recordedLookup_isDecoded() throws ErrnoException {
        receive("""
            2a000000 01000000 0400000000000000 0100000000000000 00000000 00000000 cb590000 0000 0000\
            6600\
            """);

        assertThat(request.opcode()).isEqualTo(Opcode.LOOKUP);
        assertThat(request.unique()).isEqualTo(4);
        assertThat(request.node()).isOne();
        assertThat(request.string(0)).isEqualTo("f");
    }

    @Test
    void received_recordedGetxattr_isDecoded() throws ErrnoException {
        receive("""
            41000000 16000000 0600000000000000 0200000000000000 00000000 00000000 cb590000 0000 0000\
            ff000000 00000000 73656375726974792e73656c696e757800\
            """);

        assertThat(request.opcode()).isEqualTo(Opcode.GETXATTR);
        assertThat(request.size(GetxattrIn.SIZE_FIELD)).isEqualTo(255);
        assertThat(request.string(GetxattrIn.SIZE)).isEqualTo("security.selinux");
    }

    @Test
    void received_recordedOpen_isDecoded() throws ErrnoException {
        receive("""
            30000000 0e000000 0800000000000000 0200000000000000 00000000 00000000 cc590000 0000 0000\
            00800000 00000000\
            """);

        assertThat(request.opcode()).isEqualTo(Opcode.OPEN);
        assertThat(request.u32(OpenIn.FLAGS)).as("O_LARGEFILE").isEqualTo(0100000);
    }

    @Test
    void received_recordedRead_isDecoded() throws ErrnoException {
        receive("""
            50000000 0f000000 0a00000000000000 0200000000000000 00000000 00000000 cc590000 0000 0000\
            0000000000000000 0000100000000000 00000200 00000000 0000000000000000 00800000 00000000\
            """);

        assertThat(request.opcode()).isEqualTo(Opcode.READ);
        assertThat(request.unique()).isEqualTo(10);
        assertThat(request.node()).isEqualTo(2);
        assertThat(request.u64(ReadIn.FH)).isZero();
        assertThat(request.u64(ReadIn.OFFSET)).isEqualTo(1 << 20);
        assertThat(request.size(ReadIn.SIZE_FIELD)).isEqualTo(128 << 10);
    }

    @Test
    void received_bytesBehindTheBody_areExtensionsAndNotRead() {
        assertThat(receive(message(Opcode.UNLINK, "ab\0....."), 1)).isTrue();

        assertMalformed(() -> request.string(0));
    }

    @Test
    void received_lengthThatLies_isRefused() {
        ByteBuffer message = message(Opcode.UNLINK, "abc\0");
        message.putInt(InHeader.LEN, message.capacity() + 1);

        assertThat(receive(message, 0)).isFalse();
    }

    @Test
    void received_moreExtensionsThanBytes_isRefused() {
        assertThat(receive(message(Opcode.UNLINK, "abc\0"), 1)).isFalse();
    }

    @Test
    void received_shorterThanAHeader_isRefused() {
        for (int bytes = 0; bytes < InHeader.SIZE; bytes++) {
            request.memory().putInt(InHeader.LEN, bytes);
            assertThat(request.received(bytes)).isFalse();
        }
    }

    @Test
    void string_notUtf8_isEilseq() {
        receive(message(Opcode.LOOKUP, "\u00ff\u00fe\0"), 0);

        assertThatThrownBy(() -> request.string(0))
                .isInstanceOfSatisfying(
                        ErrnoException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EILSEQ));
    }

    @Test
    void size_beyondTwoGigabytes_isMalformed() {
        receive(message(Opcode.READ, "\u00ff".repeat(ReadIn.SIZE)), 0);

        assertMalformed(() -> request.size(ReadIn.SIZE_FIELD));
    }

    /**
     * A field's value comes from the received bytes, or the request is refused. It never comes from bytes of an earlier
     * request.
     */
    @Test
    void fields_ofGeneratedRequests_areNeverReadBeyondTheEnd() {
        Seeded.check(100, random -> {
            for (int i = 0; i < CAPACITY; i++) {
                request.memory().put(i, (byte) 0x5a);
            }
            byte[] body = new byte[random.nextInt(200)];
            random.nextBytes(body);
            ByteBuffer message = message(random.nextInt(64), body);
            assertThat(receive(message, 0)).isTrue();
            for (int i = 0; i < 50; i++) {
                assertFieldIsInside(random, body);
            }
        });
    }

    private void assertFieldIsInside(RandomGenerator random, byte[] body) throws ErrnoException {
        int offset = random.nextInt(220);
        ByteBuffer model = ByteBuffer.wrap(body).order(ByteOrder.nativeOrder());
        if (offset + Long.BYTES <= body.length) {
            assertThat(request.u64(offset)).isEqualTo(model.getLong(offset));
        } else {
            assertMalformed(() -> request.u64(offset));
        }
        if (offset + Integer.BYTES <= body.length) {
            assertThat(request.u32(offset)).isEqualTo(model.getInt(offset));
        } else {
            assertMalformed(() -> request.u32(offset));
        }
        int length = random.nextInt(-10, 300);
        if (length >= 0 && offset + length <= body.length) {
            assertThat(request.bytes(offset, length)).isEqualTo(model.slice(offset, length));
        } else {
            assertMalformed(() -> request.bytes(offset, length));
        }
        int end = new String(body, ISO_8859_1).indexOf(0, offset);
        if (end >= 0) {
            assertThat(request.endOfString(offset)).isEqualTo(end);
        } else {
            assertMalformed(() -> request.endOfString(offset));
        }
    }

    @Test
    void detach_smallRequest_outlivesTheNext() throws ErrnoException {
        receive(message(Opcode.UNLINK, "first\0"), 0);
        Request detached = request.detach(new RequestPool(CAPACITY, 1));
        receive(message(Opcode.RMDIR, "second\0"), 0);

        assertThat(detached.opcode()).isEqualTo(Opcode.UNLINK);
        assertThat(detached.string(0)).isEqualTo("first");
        assertThat(request.string(0)).isEqualTo("second");
    }

    @Test
    void detach_largeRequest_keepsItsMemoryUntilGivenBack() throws ErrnoException {
        RequestPool pool = new RequestPool(64 << 10, 1);

        Request detached = detachLarge(pool);

        assertThat(pool.taken()).isOne();
        detached.giveBack(pool);
        assertThat(pool.taken()).isZero();
        assertThat(pool.kept()).isOne();
    }

    @Test
    void detach_moreLargeRequestsThanAreKept_haveMemoryAllTheSame() throws ErrnoException {
        RequestPool pool = new RequestPool(64 << 10, 1);
        List<Request> detached = List.of(detachLarge(pool), detachLarge(pool), detachLarge(pool));

        assertThat(pool.taken()).isEqualTo(3);
        detached.forEach(request -> request.giveBack(pool));
        assertThat(pool.taken()).isZero();
        assertThat(pool.kept()).isOne();
        assertThat(pool.take()).isNotNull();
        assertThat(pool.kept()).isZero();
    }

    /** A large request whose reader has since read the next one. */
    private Request detachLarge(RequestPool pool) throws ErrnoException {
        Request reader = new Request(Reply.aligned(Share.REQUESTS, 64 << 10));
        ByteBuffer message = message(Opcode.WRITE, "x".repeat(40_000));
        reader.memory().put(0, message, 0, message.capacity());
        assertThat(reader.received(message.capacity())).isTrue();

        Request detached = reader.detach(pool);
        reader.memory().put(0, new byte[64 << 10]);

        assertThat(detached.bytes(0, 40_000).get(39_999)).isEqualTo((byte) 'x');
        return detached;
    }

    private void receive(String hex) {
        byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
        request.memory().put(0, bytes);
        assertThat(request.received(bytes.length)).isTrue();
    }

    private boolean receive(ByteBuffer message, int extensions) {
        message.putShort(InHeader.TOTAL_EXTLEN, (short) extensions);
        request.memory().put(0, message, 0, message.capacity());
        return request.received(message.capacity());
    }

    private static ByteBuffer message(Opcode opcode, String body) {
        return message(opcode.number(), body.getBytes(ISO_8859_1));
    }

    private static ByteBuffer message(int opcode, byte[] body) {
        ByteBuffer message = ByteBuffer.allocate(InHeader.SIZE + body.length).order(ByteOrder.nativeOrder());
        message.putInt(InHeader.LEN, message.capacity());
        message.putInt(InHeader.OPCODE, opcode);
        return message.put(InHeader.SIZE, body);
    }

    private static void assertMalformed(ThrowingCallable decoding) {
        assertThatThrownBy(decoding)
                .isInstanceOfSatisfying(
                        ErrnoException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
    }
}
