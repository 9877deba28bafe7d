package io.penstock.fuse.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.Errno;
import io.penstock.fuse.MountException;
import io.penstock.fuse.UnsupportedKernelException;
import io.penstock.fuse.kernel.FakeKernel.ReceivedReply;
import io.penstock.fuse.kernel.Layouts.InitIn;
import io.penstock.fuse.kernel.Layouts.InitOut;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
class HandshakeTest {
    private static final long ALL = 0xffff_ffffL;
    private static final int PAGE = 4 << 10;
    private static final int LARGE_PAGE = 64 << 10;

    private final FakeKernel kernel = new FakeKernel();
    private final Handshake handshake = new Handshake(kernel.device(), 1 << 20, PAGE, 1, false);

    @AfterEach
    void close() {
        kernel.close();
        kernel.device().close();
    }

    @Test
    void agree_newerKernel_speaksOurVersion() throws MountException {
        greet(InitIn.SIZE, 7, 99, ALL);

        assertThat(handshake.agree(false).minor()).isEqualTo(Handshake.NEWEST_MINOR);
        assertThat(kernel.receive().body().getInt(InitOut.MINOR)).isEqualTo(Handshake.NEWEST_MINOR);
    }

    @Test
    void agree_oldestKernel_isSpokenTo() throws MountException {
        greet(InitIn.SHORT_SIZE, 7, Handshake.OLDEST_MINOR, ALL & ~Handshake.INIT_EXT);

        assertThat(handshake.agree(false).minor()).isEqualTo(Handshake.OLDEST_MINOR);
        ReceivedReply received = kernel.receive();
        assertThat(received.error()).isZero();
        assertThat(received.body().capacity()).isEqualTo(InitOut.SIZE);
    }

    @Test
    void agree_olderKernel_isRefusedWithWhatToDo() {
        greet(InitIn.SHORT_SIZE, 7, Handshake.OLDEST_MINOR - 1, ALL);

        assertThatThrownBy(() -> handshake.agree(false))
                .isInstanceOf(UnsupportedKernelException.class)
                .hasMessageContainingAll("7.30", "7.31", "--binding jnr");
        assertThat(kernel.receive().error()).isEqualTo(Errno.EINVAL.number());
    }

    @Test
    void agree_newerMajor_isAskedAgain() throws MountException {
        greet(InitIn.SIZE, 8, 1, ALL);
        greet(InitIn.SIZE, 7, 45, ALL);

        assertThat(handshake.agree(false).minor()).isEqualTo(45);
        assertThat(kernel.receive().body().getInt(InitOut.MAJOR)).isEqualTo(7);
    }

    @Test
    void agree_flagsThatAreNotOffered_areNotAnswered() throws MountException {
        greet(InitIn.SIZE, 7, 45, Handshake.INIT_EXT);

        NegotiatedInit negotiated = handshake.agree(false);

        assertThat(negotiated.flags()).isEqualTo(Handshake.INIT_EXT);
        assertThat(negotiated.maxRequest()).as("without MAX_PAGES").isEqualTo(128 << 10);
        assertThat(kernel.receive().body().getInt(InitOut.FLAGS)).isEqualTo((int) Handshake.INIT_EXT);
    }

    @Test
    void agree_everythingOffered_asksForLargeRequests() throws MountException {
        greet(InitIn.SIZE, 7, 45, ALL);

        NegotiatedInit negotiated = handshake.agree(false);

        ByteBuffer received = kernel.receive().body();
        assertThat(received.getInt(InitOut.FLAGS) & (int) Handshake.MAX_PAGES).isNotZero();
        assertThat(received.getInt(InitOut.MAX_WRITE)).isEqualTo(negotiated.maxRequest());
        assertThat(received.getShort(InitOut.MAX_PAGES) * PAGE).isEqualTo(negotiated.maxRequest());
    }

    /** As on arm64: if it counted pages of 4 KiB, the kernel would send requests 16 times as large as the replies. */
    @Test
    void agree_largePages_asksForRequestsOfTheSameBytes() throws MountException {
        greet(InitIn.SIZE, 7, 45, ALL);

        NegotiatedInit negotiated = new Handshake(kernel.device(), 1 << 20, LARGE_PAGE, 1, false).agree(false);

        assertThat(negotiated.maxRequest()).isEqualTo(1 << 20);
        ByteBuffer received = kernel.receive().body();
        assertThat(received.getInt(InitOut.MAX_WRITE)).isEqualTo(1 << 20);
        assertThat(received.getShort(InitOut.MAX_PAGES)).isEqualTo((short) 16);
    }

    /** The kernel then reads this many pages at a time, regardless of the binding. */
    @Test
    void agree_largePagesWithoutMaxPages_hasRoomForWhatTheKernelReads() throws MountException {
        greet(InitIn.SIZE, 7, 45, ALL & ~Handshake.MAX_PAGES);

        NegotiatedInit negotiated = new Handshake(kernel.device(), 1 << 20, LARGE_PAGE, 1, false).agree(false);

        assertThat(negotiated.maxRequest()).isEqualTo(32 * LARGE_PAGE);
    }

    @Test
    void agree_writebackCache_isAskedForOnlyIfItIsWanted() throws MountException {
        greet(InitIn.SIZE, 7, 45, ALL);
        assertThat(handshake.agree(false).writesBack()).isFalse();
        kernel.receive();

        greet(InitIn.SIZE, 7, 45, ALL);
        assertThat(new Handshake(kernel.device(), 1 << 20, PAGE, 0, true)
                        .agree(false)
                        .writesBack())
                .isTrue();
        assertThat(kernel.receive().body().getInt(InitOut.FLAGS) & (int) Handshake.WRITEBACK_CACHE)
                .isNotZero();
    }

    @Test
    void agree_upperFlags_areAnsweredInTheirOwnField() throws MountException {
        greet(InitIn.SIZE, 7, 45, ALL | Handshake.DIRECT_IO_ALLOW_MMAP);

        assertThat(handshake.agree(false).flags() & Handshake.DIRECT_IO_ALLOW_MMAP)
                .isNotZero();
        assertThat(kernel.receive().body().getInt(InitOut.FLAGS2))
                .isEqualTo((int) (Handshake.DIRECT_IO_ALLOW_MMAP >>> Integer.SIZE));
    }

    @Test
    void agree_truncatedGreeting_isRefused() {
        greet(8, 7, 45, ALL);

        assertThatThrownBy(() -> handshake.agree(false))
                .isInstanceOf(MountException.class)
                .hasMessageContaining("malformed");
    }

    @Test
    void agree_somethingElse_isRefused() {
        kernel.send(Opcode.GETATTR, 2, 0, 0);

        assertThatThrownBy(() -> handshake.agree(false))
                .isInstanceOf(MountException.class)
                .hasMessageContaining("did not send INIT");
    }

    private void greet(int size, int major, int minor, long flags) {
        ByteBuffer greeting = ByteBuffer.allocate(InitIn.SIZE).order(ByteOrder.nativeOrder());
        greeting.putInt(InitIn.MAJOR, major);
        greeting.putInt(InitIn.MINOR, minor);
        greeting.putInt(InitIn.FLAGS, (int) flags);
        greeting.putInt(InitIn.FLAGS2, (int) (flags >>> Integer.SIZE));
        kernel.send(Opcode.INIT.number(), 2, 0, greeting.limit(size));
    }
}
