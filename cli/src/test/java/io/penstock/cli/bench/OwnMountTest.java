package io.penstock.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class OwnMountTest {
    @Test
    void nested_groupsKeysByWhatIsBeforeTheDot() {
        assertThat(OwnMount.nested(Map.of("memory", "1GiB", "cache.size", "2GiB", "cache.dir", "/nvme/x")))
                .isEqualTo(Map.of("memory", "1GiB", "cache", Map.of("size", "2GiB", "dir", "/nvme/x")));
    }
}
