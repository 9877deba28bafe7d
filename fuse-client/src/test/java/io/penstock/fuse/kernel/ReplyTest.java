package io.penstock.fuse.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.NativeMemory.Share;
import io.penstock.fuse.kernel.FakeKernel.ReceivedReply;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Replies whose bytes are in more than one place. */
@Timeout(10)
class ReplyTest {
    private static final int LENT = 33_000;
    private static final int CAPACITY = 60 << 10;

    private final FakeKernel kernel = new FakeKernel();
    private final Reply reply = new Reply(CAPACITY);
    private final ByteBuffer lent = Reply.aligned(Share.REQUESTS, 64 << 10);
    private final AtomicInteger ended = new AtomicInteger();

    @AfterEach
    void close() {
        kernel.close();
        kernel.device().close();
    }

    /** The reply's own bytes are 1, lent ones are 2. */
    private int make(int before, int after) {
        int length = before + LENT + after;
        ByteBuffer body = reply.body(length);
        for (int i = 0; i < length; i++) {
            body.put(body.position() + i, (byte) 1);
        }
        for (int i = 0; i < lent.capacity(); i++) {
            lent.put(i, (byte) (i >= 100 && i < 100 + LENT ? 2 : 3));
        }
        assertThat(reply.loans().takes(LENT)).isTrue();
        long address = MemorySegment.ofBuffer(lent).address() + 100;
        reply.loans().add(body.position() + before, lent, 100, address, LENT, ended::incrementAndGet);
        return length;
    }

    private void assertSent(int before, int after) {
        ReceivedReply received = kernel.receive();
        assertThat(received.error()).isZero();
        assertThat(received.body().capacity()).isEqualTo(before + LENT + after);
        for (int i = 0; i < received.body().capacity(); i++) {
            assertThat(received.body().get(i)).as("byte %s", i).isEqualTo((byte)
                    (i < before || i >= before + LENT ? 1 : 2));
        }
        assertThat(ended).hasValue(1);
    }

    @Test
    void send_allLent_isTheLentBytes() {
        assertThat(reply.send(kernel.device(), 9, make(0, 0))).isZero();
        assertSent(0, 0);
    }

    @Test
    void send_lentBetweenOwn_isInOrder() {
        assertThat(reply.send(kernel.device(), 9, make(4096, 77))).isZero();
        assertSent(4096, 77);
    }

    @Test
    void send_errorAfterLoans_sendsTheErrorAndGivesBack() {
        make(0, 0);

        assertThat(reply.send(kernel.device(), 9, -5)).isZero();

        assertThat(kernel.receive().error()).isEqualTo(5);
        assertThat(ended).hasValue(1);
    }

    @Test
    void send_again_hasNothingLentFromBefore() {
        reply.send(kernel.device(), 9, make(0, 0));
        kernel.receive();
        reply.clear(8).u64(0, 42);

        reply.send(kernel.device(), 11, 8);

        assertThat(kernel.receive().body().getLong(0)).isEqualTo(42);
        assertThat(ended).hasValue(1);
    }

    @Test
    void takes_fewBytesOrTooManyLoans_leavesThemToBeCopied() {
        assertThat(reply.loans().takes(4096)).isFalse();
        make(0, 0);
        make(0, 0);
        assertThat(reply.loans().takes(LENT)).isFalse();
        reply.loans().giveBack();
        assertThat(ended).hasValue(2);
    }
}
