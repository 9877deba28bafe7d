package io.penstock.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.penstock.tools.bench.Output.Form;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OutputTest {
    private static final Workload WORKLOAD = new Workload(1 << 30, 1000, 128 << 10, 16, Duration.ofSeconds(5));

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    /** Shows a bucket's upload, and a file written at a quarter of its rate. */
    private void show(Form form) throws Exception {
        Output output = new Output(new PrintWriter(out), new PrintWriter(err), form);
        Results results = new Results(output);
        output.begin(WORKLOAD);
        output.begin(ResultsTest.BUCKET);
        results.measureRate(ResultsTest.BUCKET, Step.BUCKET_UPLOAD, () -> 1234.5);
        output.begin(ResultsTest.MOUNT);
        Row row = results.measureRate(ResultsTest.MOUNT, Step.LARGE_WRITE, () -> 308.6);
        output.diagnosis(row, "large file written: raise it");
        output.end(results, WORKLOAD.within(64 << 20));
    }

    @Test
    void lines_haveRatesRatiosAndJudgements() throws Exception {
        show(Form.LINES);
        assertThat(out.toString()).isEqualTo("""
            A large file of up to 1GiB, and up to 1000 small files of 128KiB, with 16 threads
            bucket s3://data
              sent in parts, 16 at once           1235 MiB/s
            /mnt/data
              large file written                   309 MiB/s     25% of the bucket's 1235

            → large file written: raise it
            """);
    }

    @Test
    void lines_ofEveryStep_fitATerminal() {
        for (Step step : Step.values()) {
            Row ceiling = new Row(ResultsTest.BUCKET, Step.STAT, 9_999_999, null);
            Row row = new Row(ResultsTest.MOUNT, step, 9_999_999, ceiling);
            assertThat(Output.line(row)).hasSizeLessThanOrEqualTo(80);
        }
    }

    @Test
    void terminal_saysWhatIsBeingMeasured() throws Exception {
        show(Form.TERMINAL);
        assertThat(out.toString()).contains("  large file written ...\r  large file written      ");
    }

    @Test
    void json_hasStableNames() throws Exception {
        show(Form.JSON);
        JsonNode json = JsonMapper.builder().build().readTree(out.toString());
        assertThat(json.path("largeBytes").asLong()).isEqualTo(64 << 20);
        assertThat(json.path("smallFiles").asInt()).isEqualTo(1000);
        assertThat(json.path("smallBytes").asInt()).isEqualTo(128 << 10);
        assertThat(json.path("threads").asInt()).isEqualTo(16);
        assertThat(json.path("rows")).hasSize(2);
        assertThat(json.path("rows").get(0).toString())
                .isEqualTo("{\"of\":\"bucket\",\"place\":\"s3://data\",\"step\":\"bucket_upload\","
                        + "\"rate\":1234.5,\"unit\":\"MiB/s\"}");
        JsonNode row = json.path("rows").get(1);
        assertThat(row.path("of").asText()).isEqualTo("mount");
        assertThat(row.path("place").asText()).isEqualTo("/mnt/data");
        assertThat(row.path("step").asText()).isEqualTo("large_write");
        assertThat(row.path("ceiling").asText()).isEqualTo("bucket_upload");
        assertThat(row.path("ratio").asDouble()).isBetween(0.249, 0.251);
        assertThat(row.path("judgement").asText()).isEqualTo("large file written: raise it");
    }

    @Test
    void warning_goesToStandardError() {
        new Output(new PrintWriter(out), new PrintWriter(err), Form.JSON).warning("could not remove x");
        assertThat(err.toString()).isEqualTo("penstock: could not remove x%n".formatted());
        assertThat(out.toString()).isEmpty();
    }
}
