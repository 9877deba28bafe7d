package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.serve.control.ShareStatus;
import io.penstock.settings.Peers;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SharingTest {
    private static final SharePlan PLAN =
            new SharePlan(new Peers.InBucket(), InetSocketAddress.createUnresolved("10.0.0.1", Peers.PORT), null, 0);

    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    @Test
    void close_whileItJoins_endsAlsoIfTheInterruptIsForgotten() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        Sharing sharing = new Sharing(PLAN, () -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException forgotten) {
                // swallowed, as by the JDK's HTTP server
            }
            throw new IllegalStateException("it cannot be joined");
        });
        begun.await();

        sharing.close();

        assertThat(sharing.status().state()).isEqualTo(ShareStatus.State.FAILED);
    }
}
