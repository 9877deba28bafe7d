package io.penstock.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HostTest {
    @Test
    void home_ofAUserWhoHasSetAnother_isThat() {
        assertThat(Host.home(Map.of("HOME", "/elsewhere"), "/home/ann")).isEqualTo(Path.of("/elsewhere"));
        assertThat(Host.home(Map.of("HOME", ""), "/home/ann")).isEqualTo(Path.of("/home/ann"));
        assertThat(Host.home(Map.of(), "/home/ann")).isEqualTo(Path.of("/home/ann"));
    }
}
