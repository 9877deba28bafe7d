package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GroupTrafficTest {
    /** Output of penstock stats, shortened to the parsed fields and a little more. */
    private static final String STATISTICS = """
        a warning of the JVM
        {"source":"s3://b/p","pid":7,"readahead":{"demandGets":3,"readaheadGets":4,"bytesFetched":700},
         "share":{"state":"JOINED","error":null,"members":[{"id":"a"},{"id":"b"}],"bytesFromPeers":300,
         "fallbacks":{"timeout":1,"busy":0}}}
        """;

    @Test
    void statistics_afterAWarning_areRead() throws Exception {
        assertThat(GroupTraffic.parse(STATISTICS))
                .isEqualTo(new GroupTraffic(700, 7, 300, Map.of("timeout", 1L, "busy", 0L), 2));
    }

    @Test
    void statistics_ofAMountThatSharesNothing_areRefused() {
        assertThatThrownBy(() -> GroupTraffic.parse("{\"readahead\":{\"bytesFetched\":1},\"share\":null}"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("shares");
    }

    @Test
    void trafficOfTwoNodes_isTheirSum_andSeenByTheOneThatSeesFewest() {
        GroupTraffic one = new GroupTraffic(10, 1, 20, Map.of("busy", 1L), 3);
        GroupTraffic other = new GroupTraffic(5, 2, 0, Map.of("busy", 2L, "timeout", 4L), 2);
        assertThat(one.plus(other))
                .isEqualTo(other.plus(one))
                .isEqualTo(new GroupTraffic(15, 3, 20, Map.of("busy", 3L, "timeout", 4L), 2));
    }

    @Test
    void trafficSinceAnEarlierTime_isTheDifference() {
        GroupTraffic before = new GroupTraffic(10, 1, 20, Map.of("busy", 1L), 3);
        GroupTraffic after = new GroupTraffic(15, 3, 20, Map.of("busy", 1L, "timeout", 4L), 3);
        GroupTraffic between = after.since(before);
        assertThat(between).isEqualTo(new GroupTraffic(5, 2, 0, Map.of("busy", 0L, "timeout", 4L), 3));
        assertThat(between.causes()).isEqualTo("4 timeout");
        assertThat(after.since(after).causes()).isEqualTo("–");
    }
}
