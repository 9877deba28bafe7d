package io.penstock.fuse;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SupervisorTest {
    private static boolean isThere(Map<String, String> environment) {
        return new Supervisor(environment, 1).isThere();
    }

    @Test
    void isThere_serviceThatStoresNoFiles_isFalse() {
        assertThat(isThere(Map.of())).isFalse();
        assertThat(isThere(Map.of("NOTIFY_SOCKET", "/run/systemd/notify"))).isFalse();
        assertThat(isThere(Map.of("NOTIFY_SOCKET", "/run/systemd/notify", "FDSTORE", "0")))
                .isFalse();
        assertThat(isThere(Map.of("NOTIFY_SOCKET", "/run/systemd/notify", "FDSTORE", "8")))
                .isTrue();
    }
}
