package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.serve.control.Statistic;
import io.penstock.settings.ByteSizes;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Fills a mount's statistics into templates. There {@code {NAME}} is a {@link Statistic} in its unit, {@code {A+B}} the
 * sum of two, {@code {A of B}} their ratio in percent, and {@code {NAME[key]}} the part of a key. {@code /s} after it
 * means its growth in a second, and then {@code :8} the number of columns.
 *
 * @param before an earlier response of the mount
 * @param now its last response
 */
record StatsText(JsonNode before, JsonNode now) {
    private static final Pattern PLUS = Pattern.compile("\\+");

    private static final Pattern PLACE =
            Pattern.compile("\\{(?<value>[^/: }]+)(?: of (?<whole>[^/:}]+))?(?<rate>/s)?(?::(?<width>\\d+))?}");

    /** All page reads, in templates. */
    private static final String PAGES = "MEMORY_HITS+DISK_HITS+WAITS+MISSES";

    String fill(String template) {
        return PLACE.matcher(template.replace("PAGES", PAGES))
                .replaceAll(place -> Matcher.quoteReplacement(text(place)));
    }

    List<String> lines(String template) {
        return fill(template).lines().toList();
    }

    private String text(MatchResult place) {
        String value = place.group("value");
        String whole = place.group("whole");
        String width = place.group("width");
        boolean isRate = place.group("rate") != null;
        String text = whole == null
                ? inUnit(statistic(terms(value).getFirst()).unit(), sum(value, isRate))
                : Figures.percent(sum(value, isRate), sum(whole, isRate));
        return width == null ? text : ("%" + width + "s").formatted(text);
    }

    private double sum(String names, boolean isRate) {
        return terms(names).stream()
                .mapToDouble(name -> {
                    int key = name.indexOf('[');
                    String[] keys = key < 0 ? new String[0] : new String[] {name.substring(key + 1, name.length() - 1)};
                    return isRate
                            ? rate(statistic(name), keys)
                            : statistic(name).of(now, keys);
                })
                .sum();
    }

    private static List<String> terms(String sum) {
        return PLUS.splitAsStream(sum).toList();
    }

    private static Statistic statistic(String name) {
        return Statistic.valueOf(name.replaceFirst("\\[.*", ""));
    }

    /** The growth in a second. */
    double rate(Statistic statistic, String... keys) {
        double seconds = Statistic.UPTIME.of(now) - Statistic.UPTIME.of(before);
        return (statistic.of(now, keys) - statistic.of(before, keys)) / Math.max(0.001, seconds);
    }

    private static String inUnit(Statistic.Unit unit, double value) {
        return switch (unit) {
            case NUMBER, SECONDS -> Figures.count(value);
            case BYTES -> ByteSizes.about(value);
            case COST -> String.format(Locale.ROOT, "%.4f", value);
        };
    }
}
