package io.penstock.tools.doctor;

import static io.penstock.tools.doctor.Machines.settings;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The doctor's findings about a mount's cache group. */
class SharingFaultsTest {
    @Test
    void examine_groupCannotBeJoined_isAWarningWithTheReason() {
        Finding finding = examine(ShareStatus.State.FAILED, "share.listen: port 7420 is in use");

        assertThat(finding.severity()).isEqualTo(Finding.Severity.WARNING);
        assertThat(finding.found()).contains("port 7420 is in use");
        assertThat(finding.remedy()).contains("docs/SHARING.md");
    }

    @Test
    void examine_allPeersFail_isAWarning() {
        Finding finding = examine(ShareStatus.State.JOINED, null, "self", "skipped", "skipped");

        assertThat(finding.severity()).isEqualTo(Finding.Severity.WARNING);
        assertThat(finding.found()).contains("all 2 other nodes");
    }

    @Test
    void examine_alone_isANote() {
        assertThat(examine(ShareStatus.State.JOINED, null, "self").severity()).isEqualTo(Finding.Severity.NOTE);
    }

    @Test
    void examine_onePeerOfTwoFails_isOk() {
        assertThat(examine(ShareStatus.State.JOINED, null, "self", "skipped", "asked")
                        .severity())
                .isEqualTo(Finding.Severity.OK);
    }

    @Test
    void examine_joining_isOk() {
        assertThat(examine(ShareStatus.State.JOINING, null).severity()).isEqualTo(Finding.Severity.OK);
    }

    private static Finding examine(ShareStatus.State state, @Nullable String error, String... states) {
        List<Member> members = Stream.of(states)
                .map(each -> new Member(each, "10.0.0.1:7420", 0.5, each))
                .toList();
        ShareStatus share = new ShareStatus(state, error, "10.0.0.1:7420", members, 0, 0, Map.of(), 0, 0, Map.of(), 0);
        MountStatistics statistics = new MountStatistics(
                "s3://data",
                "/mnt/a",
                4711,
                100,
                new CacheStatistics(9, 9, 9, 9, 0, 0, 0, 0, 0, 1000, 0, 0, 0, 0, 0, 0, 1 << 30),
                new ReadaheadStatistics(100, 900, 0, 0, 1 << 30, 0, 0, 0, 0),
                new RequestStatistics(1000, 0, 0, 0, 0, 0, 0),
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
        Findings findings = new Findings("mount");
        new MountHealth(settings("")).one(new MountHealth.Facts("/mnt/a", true, "", statistics, ""), findings);
        assertThat(findings.all()).hasSize(1);
        return findings.all().getFirst();
    }
}
