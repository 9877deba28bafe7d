package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.CacheStatistics;
import io.penstock.objectstore.s3.RequestStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.serve.control.Cost;
import io.penstock.serve.control.MountStatistics;
import io.penstock.serve.control.Saved;
import io.penstock.serve.control.ShareStatus;
import io.penstock.serve.control.ShareStatus.Member;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ShareCommandTest {
    private static final long MIB = 1 << 20;

    @Test
    void text_ofAGroup_hasMembersTrafficAndCauses() {
        ShareStatus share = new ShareStatus(
                ShareStatus.State.JOINED,
                null,
                "10.0.0.1:7420",
                List.of(
                        new Member("a", "10.0.0.1:7420", 0.34, "self"),
                        new Member("b", "10.0.0.2:7420", 0.33, "asked"),
                        new Member("c", "10.0.0.3:7420", 0.33, "skipped")),
                200 * MIB,
                250,
                Map.of("timeout", 2L, "unreachable", 1L, "busy", 0L),
                120,
                30 * MIB,
                Map.of("403", 4L),
                17);
        assertThat(text(share)).isEqualTo("""
            /mnt/data shares its cache at 10.0.0.1:7420
            NODE                       OWNS  STATE
            10.0.0.1:7420             34.0%  this node
            10.0.0.2:7420             33.0%  asked
            10.0.0.3:7420             33.0%  skipped after failures; retried within a minute
            from others:   200MiB in 250 requests
            fell back:     3 times to the store for pages of other nodes: 2 timeout, 1 unreachable
            to others:     30MiB in 120 requests, 17 GETs for them; refused: 4 403
            from store:    33% of the 300MiB received; 1.00 GETs per cold page if all nodes read the same data
            """);
    }

    @Test
    void text_notJoined_saysHowFarItIs() {
        assertThat(text(outside(ShareStatus.State.JOINING, null)))
                .isEqualTo("/mnt/data is looking for its cache group, at 10.0.0.1:7420\n");
        assertThat(text(outside(ShareStatus.State.FAILED, "the port is in use")))
                .isEqualTo("/mnt/data does not share its cache now, and retries every 30 s: the port is in use\n");
    }

    /** The texts come from the network. */
    @Test
    void text_textsOfOtherNodesWithControlCharacters_areEscaped() {
        Member other = new Member("b", "10.0.0.2:7420\nx", 0.5, "\u001b[2J");
        ShareStatus share =
                new ShareStatus(ShareStatus.State.JOINED, null, "a", List.of(other), 0, 0, Map.of(), 0, 0, Map.of(), 0);
        assertThat(text(share)).contains("10.0.0.2:7420\\u000ax", "\\u001b[2J").doesNotContain("\u001b");
        assertThat(text(outside(ShareStatus.State.FAILED, "no\nyes")).lines()).hasSize(1);
    }

    private static ShareStatus outside(ShareStatus.State state, @Nullable String error) {
        return new ShareStatus(state, error, "10.0.0.1:7420", List.of(), 0, 0, Map.of(), 0, 0, Map.of(), 0);
    }

    private static String text(ShareStatus share) {
        MountStatistics mount = new MountStatistics(
                "s3://data",
                "/mnt/data",
                17,
                1,
                new CacheStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                new ReadaheadStatistics(1, 2, 0, 0, 100 * MIB, 0, 0, 0, 0),
                new RequestStatistics(0, 0, 0, 0, 0, 0, 0),
                new Cost(0, 0),
                new Saved(0, 0, 0),
                null,
                Map.of(),
                new MountStatistics.InFlight(0, 0),
                Map.of(),
                new MountStatistics.Space(0, 0, 0),
                List.of(),
                null,
                share);
        return ShareCommand.text(mount, share);
    }
}
