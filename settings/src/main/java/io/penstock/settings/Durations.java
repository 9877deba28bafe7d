package io.penstock.settings;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Durations as people write them: {@code 250ms}, {@code 60s}, {@code 5m}, {@code 1h}, {@code 2d}. */
public final class Durations {
    private static final Pattern FORMAT = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*(ms|s|m|h|d)?");

    private Durations() {}

    /** @return null if the text is not a duration, or not a whole number of milliseconds */
    public static @Nullable Duration parse(String text) {
        Matcher matcher = FORMAT.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            return null;
        }
        BigDecimal number = new BigDecimal(matcher.group(1));
        String unit = matcher.group(2);
        if (unit == null) {
            return number.signum() == 0 ? Duration.ZERO : null;
        }
        try {
            return Duration.ofMillis(
                    number.multiply(BigDecimal.valueOf(millis(unit))).longValueExact());
        } catch (ArithmeticException e) {
            return null;
        }
    }

    /** In the largest unit up to minutes that needs no fraction. */
    static String print(Duration duration) {
        long millis = duration.toMillis();
        if (millis % 1000 != 0) {
            return millis + "ms";
        }
        long seconds = millis / 1000;
        return seconds >= 120 && seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
    }

    private static long millis(String unit) {
        return switch (unit) {
            case "ms" -> 1;
            case "s" -> 1_000;
            case "m" -> 60_000;
            case "h" -> 3_600_000;
            case "d" -> 86_400_000;
            default -> throw new IllegalArgumentException(unit);
        };
    }
}
