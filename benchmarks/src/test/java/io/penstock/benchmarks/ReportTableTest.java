package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.benchmarks.ReportRow.Ceiling;
import io.penstock.tools.measure.Measurement;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;

class ReportTableTest {
    private static final ReportRow ROW =
            ReportRow.of("cold", new Ceiling("raw × 16"), new Ceiling(List.of("raw × 16", "raw × 32", "raw × 64")));

    private final Measurements results = new Measurements(ReportFigures.BYTES, _ -> {});

    private void measured(String name, int mibPerSecond) {
        results.add(name, new Sample(run(mibPerSecond), null));
    }

    private static Measurement run(int mibPerSecond) {
        return new Measurement((long) mibPerSecond << 20, mibPerSecond, 1_000_000_000, 2_000_000, 3_000_000);
    }

    @Test
    void ratio_ofSeveralRounds_isThatOfTheMedians() {
        measured("cold", 600);
        measured("raw × 16", 1000);
        measured("cold", 10);
        measured("raw × 16", 5000);
        measured("cold", 700);
        measured("raw × 16", 800);
        assertThat(new ReportTable(results, List.of(ROW))
                        .ratio(ROW, ROW.ceilings().getFirst())
                        .orElseThrow())
                .satisfies(ratio -> assertThat(ratio.value()).isCloseTo(0.6, within(1e-9)))
                .satisfies(ratio -> assertThat(ratio.of()).isEqualTo("raw × 16"));
    }

    @Test
    void rate_ofTwoRounds_isTheirMean() {
        measured("cold", 600);
        measured("cold", 700);
        assertThat(results.rate("cold")).isCloseTo(650, within(1e-9));
    }

    @Test
    void markdown_ofAServedRun_hasItsCost() {
        results.add("cold", new Sample(run(512), new Sample.Cost(0.25, 300L << 20)));
        assertThat(new ReportTable(results, List.of(ROW)).markdown())
                .contains("| cold | 512 | 512 | 2.00 | 3.00 | 0.500 | 300 |  |");
    }

    @Test
    void markdown_namesTheBestOfSeveralCeilings() {
        measured("raw × 16", 1000);
        measured("raw × 32", 2000);
        measured("raw × 64", 1500);
        measured("cold", 800);
        assertThat(new ReportTable(results, List.of(ROW)).markdown())
                .contains("| cold | 800 | 800 | 2.00 | 3.00 | – | – | 0.80 of raw × 16; 0.40 of the best, raw × 32 |")
                .contains("| raw × 32 | 2,000 | 2,000 | 2.00 | 3.00 | – | – |");
    }

    @Test
    void markdown_ofAnUnmeasuredRow_leavesItOut() {
        measured("raw × 16", 1000);
        ReportTable report = new ReportTable(results, List.of(ROW));
        assertThat(report.markdown()).doesNotContain("| cold |");
        assertThat(report.bars()).isEmpty();
    }

    @Test
    void markdown_withoutACeiling_hasNoRatio() {
        measured("cold", 800);
        ReportTable report = new ReportTable(results, List.of(ROW));
        assertThat(report.markdown()).contains("| cold | 800 | 800 | 2.00 | 3.00 | – | – |  |");
        assertThat(report.bars()).isEmpty();
    }

    @Test
    void figures_areShownWithTheDigitsThatMean() {
        assertThat(List.of(
                        ReportFigures.significant(0.0473),
                        ReportFigures.significant(1.0049),
                        ReportFigures.significant(56.78),
                        ReportFigures.significant(123_456.7)))
                .containsExactly("0.047", "1.00", "56.8", "123,457");
    }

    @Test
    void chart_ofBars_isWellFormedAndShowsThem() throws Exception {
        String svg =
                Chart.svg("a < b", List.of(new ReportTable.Bar("cold & dark", 0.5), new ReportTable.Bar("warm", 9)));
        Document document = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
        assertThat(document.getElementsByTagName("rect").getLength()).isEqualTo(2);
        assertThat(svg).contains("cold &amp; dark", ">0.50<", ">9.00<").contains("prefers-color-scheme: dark");
        int right = Integer.parseInt(
                Objects.requireNonNull(document.getDocumentElement()).getAttribute("width"));
        assertThat(document.getElementsByTagName("rect").item(1).getAttributes().getNamedItem("width"))
                .satisfies(
                        bar -> assertThat(Integer.parseInt(bar.getNodeValue())).isLessThan(right));
    }
}
