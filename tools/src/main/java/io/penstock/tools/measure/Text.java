package io.penstock.tools.measure;

import io.penstock.core.Printable;
import java.time.Duration;
import java.util.Locale;

/** Numbers and lines for people to read. */
public final class Text {
    private Text() {}

    /** With one decimal if the number is small. */
    public static String number(double number) {
        boolean isWhole = number >= 100 || number == Math.rint(number);
        return String.format(Locale.ROOT, isWhole ? "%.0f" : "%.1f", number);
    }

    /** {@code 12 ms}, {@code 3 s}, {@code 5 min}, {@code 2 h} or {@code 4 days}: the largest unit that fits twice. */
    public static String time(Duration time) {
        if (time.compareTo(Duration.ofSeconds(2)) < 0) {
            return number(time.toNanos() / 1e6) + " ms";
        } else if (time.compareTo(Duration.ofMinutes(2)) < 0) {
            return time.toSeconds() + " s";
        } else if (time.compareTo(Duration.ofHours(2)) < 0) {
            return time.toMinutes() + " min";
        }
        return time.compareTo(Duration.ofDays(2)) < 0 ? time.toHours() + " h" : time.toDays() + " days";
    }

    /**
     * Lines of at most {@code width} columns, each with its line end. A word is never broken: it may be a path to copy.
     *
     * @param first the prefix of the first line
     * @param next the prefix of the others
     */
    public static String wrap(int width, String first, String next, String text) {
        StringBuilder lines = new StringBuilder();
        StringBuilder line = new StringBuilder(first);
        boolean isEmpty = true;
        for (String each : text.split("\\s+", -1)) {
            String word = Printable.text(each);
            if (!isEmpty && line.length() + 1 + word.length() > width) {
                lines.append(line.toString().stripTrailing()).append('\n');
                line = new StringBuilder(next);
                isEmpty = true;
            }
            line.append(isEmpty ? "" : " ").append(word);
            isEmpty = false;
        }
        return lines.append(line.toString().stripTrailing()).append('\n').toString();
    }
}
