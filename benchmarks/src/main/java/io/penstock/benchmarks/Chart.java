package io.penstock.benchmarks;

import java.util.List;
import java.util.Locale;

/** Draws ratios as bars, with the ceiling at 1, as an SVG image that is legible on white and on black. */
final class Chart {
    private static final int LINE = 26;
    private static final int TOP = 48;
    private static final int LABELS = 380;
    private static final int UNIT = 300;

    /** Longer bars are cut off: a mount can exceed a ceiling, such as a bare disk with a smaller readahead. */
    private static final double MOST = 1.4;

    private Chart() {}

    static String svg(String title, List<ReportTable.Bar> bars) {
        int width = LABELS + (int) (UNIT * MOST) + 60;
        int height = TOP + LINE * bars.size() + 34;
        StringBuilder svg = new StringBuilder(String.format(Locale.ROOT, """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d" role="img">
            <title>%3$s</title>
            <style>
              text { font: 13px system-ui, sans-serif; fill: #1f2328; }
              .title { font-weight: 600; }
              .bar { fill: #2f81b7; }
              .grid { stroke: #1f2328; stroke-opacity: .25; }
              .ceiling { stroke: #c2571a; stroke-width: 2; }
              @media (prefers-color-scheme: dark) {
                text { fill: #e6edf3; }
                .bar { fill: #4da3d9; }
                .grid { stroke: #e6edf3; }
                .ceiling { stroke: #f0883e; }
              }
            </style>
            <text class="title" x="8" y="22">%3$s</text>
            """, width, height, escape(title)));
        for (double mark : new double[] {0, 0.25, 0.5, 0.75, 1}) {
            axis(svg, mark, TOP + LINE * bars.size());
        }
        for (int i = 0; i < bars.size(); i++) {
            bar(svg, bars.get(i), TOP + LINE * i);
        }
        return svg.append("</svg>\n").toString();
    }

    private static void axis(StringBuilder svg, double mark, int bottom) {
        svg.append(String.format(
                Locale.ROOT,
                """
                <line class="%s" x1="%2$d" y1="%3$d" x2="%2$d" y2="%4$d"/>
                <text x="%2$d" y="%5$d" text-anchor="middle">%6$s</text>
                """,
                mark == 1 ? "ceiling" : "grid",
                x(mark),
                TOP - 8,
                bottom + 4,
                bottom + 22,
                mark == 1 ? "ceiling" : String.format(Locale.ROOT, "%.2f", mark)));
    }

    private static void bar(StringBuilder svg, ReportTable.Bar bar, int y) {
        int end = x(Math.min(bar.ratio(), MOST));
        svg.append(String.format(
                Locale.ROOT,
                """
                <text x="%d" y="%d" text-anchor="end">%s</text>
                <rect class="bar" x="%d" y="%d" width="%d" height="%d" rx="2"/>
                <text x="%d" y="%d">%.2f</text>
                """,
                LABELS - 10,
                y + 15,
                escape(bar.name()),
                LABELS,
                y + 2,
                end - LABELS,
                LINE - 8,
                end + 6,
                y + 15,
                bar.ratio()));
    }

    private static int x(double ratio) {
        return LABELS + (int) Math.round(ratio * UNIT);
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
