package io.penstock.embeddeds3;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class FreePortsTest {
    @Test
    void first_ofTwoAtAnotherLoopbackAddress_canBothBeBound() throws Exception {
        InetAddress address = InetAddress.ofLiteral("127.0.0.2");
        int port = FreePorts.first(2, "127.0.0.2");
        try (ServerSocket first = new ServerSocket(port, 1, address);
                ServerSocket second = new ServerSocket(port + 1, 1, address)) {
            assertThat(second.getLocalPort())
                    .isEqualTo(first.getLocalPort() + 1)
                    .isLessThan(32_768);
        }
    }
}
