package io.penstock.fuse.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.fuse.kernel.FakeKernel.ReceivedReply;
import java.time.Duration;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NotifierTest {
    private final FakeKernel kernel = new FakeKernel();
    private final Device device = kernel.device();
    private final Notifier notifier = Notifier.start(device, new NoticeWriter.Direct(device), true);

    @AfterEach
    void nothingIsLeft() throws InterruptedException {
        assertThat(notifier.end(Duration.ofSeconds(20))).isTrue();
        device.close();
        kernel.close();
    }

    @Test
    void dropInode_withPages_isEveryByteOfTheStruct() {
        notifier.dropInode(0x1122, true);

        assertNotice(2, "2211000000000000 0000000000000000 0000000000000000");
    }

    @Test
    void dropInode_attributesOnly_hasANegativeOffset() {
        notifier.dropInode(0x1122, false);

        assertNotice(2, "2211000000000000 ffffffffffffffff 0000000000000000");
    }

    @Test
    void dropName_isItsBytesAndANul() {
        notifier.dropName(0x1122, "aü");

        assertNotice(3, "2211000000000000 03000000 00000000 61c3bc00");
    }

    @Test
    void forget_isEveryByteOfTheStruct() {
        notifier.forget(0x1122, 0x33, "a");

        assertThat(notifier.forgetsDirectories()).isTrue();
        assertNotice(9, "01000000 00000000 0000000000000000 2211000000000000");
    }

    @Test
    void forget_olderKernel_dropsTheName() throws Exception {
        Notifier older = Notifier.start(device, new NoticeWriter.Direct(device), false);

        older.forget(0x1122, 0x33, "a");

        assertThat(older.forgetsDirectories()).isFalse();
        assertNotice(3, "3300000000000000 01000000 00000000 6100");
        assertThat(older.end(Duration.ofSeconds(20))).isTrue();
    }

    private void assertNotice(int code, String body) {
        ReceivedReply notice = kernel.receive();
        assertThat(notice.unique()).isZero();
        assertThat(notice.error()).as("code").isEqualTo(-code);
        assertThat(HexFormat.of().formatHex(notice.body().array())).isEqualTo(body.replace(" ", ""));
    }
}
