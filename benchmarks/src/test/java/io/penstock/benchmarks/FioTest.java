package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.tools.measure.Measurement;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class FioTest {
    /** Output of fio 3.33, shortened to the parsed fields and a little more. */
    private static final String REPORT = """
        note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1
        {
          "fio version" : "fio-3.33",
          "jobs" : [
            {
              "jobname" : "job0", "groupid" : 0, "error" : %d,
              "read" : {
                "io_bytes" : 1073741824, "bw_bytes" : 536870912, "iops" : 512.0, "runtime" : %d, "total_ios" : 1024,
                "clat_ns" : {
                  "min" : 100, "percentile" : { "1.000000" : 200, "50.000000" : 1908736, "99.000000" : 4046848 }
                }
              },
              "write" : { "io_bytes" : 0, "runtime" : 0 }
            }
          ]
        }
        """;

    @Test
    void report_afterWarnings_isRead() throws IOException {
        assertThat(Fio.parse(REPORT.formatted(0, 2000)))
                .isEqualTo(new Measurement(1L << 30, 1024, 2_000_000_000L, 1_908_736, 4_046_848));
    }

    @Test
    void report_ofAFailedRun_isRefused() {
        assertThatThrownBy(() -> Fio.parse(REPORT.formatted(5, 2000)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("error 5");
    }

    @Test
    void report_ofARunThatReadNothing_isRefused() {
        assertThatThrownBy(() -> Fio.parse(REPORT.formatted(0, 0))).hasMessageContaining("nothing");
    }

    @Test
    void report_withoutJson_isRefusedWithWhatItSays() {
        assertThatThrownBy(() -> Fio.parse("fio: no such file"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no such file");
    }

    @Test
    void report_ofSeveralGroups_isRefused() {
        assertThatThrownBy(() -> Fio.parse("{\"jobs\": [{}, {}]}")).hasMessageContaining("2 groups");
    }

    @Test
    void command_ofSeveralJobs_hasTheSharedOptionsBeforeTheFirst() {
        List<String> command = Fio.command(
                Fio.Shape.sequential(1 << 20),
                List.of(new Fio.Job(Path.of("/m/a"), 0, 5), new Fio.Job(Path.of("/m/b:c"), 7, 6)),
                Path.of("/r"));
        assertThat(command)
                .containsSubsequence("--rw=read", "--bs=1048576", "--name=job0", "--filename=/m/a")
                .containsSubsequence("--name=job1", "--filename=/m/b\\:c", "--offset=7", "--size=6")
                .contains("--readonly", "--group_reporting", "--invalidate=1");
    }

    @Test
    void options_ofAShape_followFromIt() {
        assertThat(Fio.Shape.sequential(4096).withKernelPages().options())
                .contains("--rw=read", "--invalidate=0")
                .noneMatch(option -> option.startsWith("--runtime"))
                .noneMatch(option -> option.startsWith("--rate"));
        assertThat(Fio.Shape.sequential(4096).by(Fio.Calls.MAPPED).options()).contains("--ioengine=mmap", "--rw=read");
        assertThat(Fio.Shape.sequential(4096).paced(1 << 20).options()).contains("--rate=1048576");
        assertThat(Fio.Shape.random(4096, 5).options()).contains("--rw=randread", "--bs=4096", "--runtime=5");
    }
}
