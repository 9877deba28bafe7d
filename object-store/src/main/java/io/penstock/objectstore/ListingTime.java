package io.penstock.objectstore;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.utils.DateUtils;

/**
 * Times in listings, in whole seconds. HEAD has no finer time (RFC 9110, section 5.6.7), and a file must show one time.
 */
final class ListingTime {
    /** The form that all known servers use, with or without a fraction. A letter stands for any digit. */
    private static final String FORM = "yyyy-MM-ddTHH:mm:ss";

    private static final int SECONDS_OF_DAY = 86_400;

    private ListingTime() {}

    /** Null if the first {@code length} bytes are no time. */
    static @Nullable Instant parse(byte[] text, int length) {
        try {
            return isUsual(text, length)
                    ? usual(text)
                    : DateUtils.parseIso8601Date(new String(text, 0, length, UTF_8))
                            .truncatedTo(ChronoUnit.SECONDS);
        } catch (DateTimeException _) {
            return null;
        }
    }

    private static boolean isUsual(byte[] text, int length) {
        int fraction = FORM.length();
        if (length <= fraction || text[length - 1] != 'Z' || (text[fraction] != '.' && fraction != length - 1)) {
            return false;
        }
        for (int i = 0; i < fraction; i++) {
            char form = FORM.charAt(i);
            boolean isDigit = form != '-' && form != 'T' && form != ':';
            if (isDigit ? !isDigit(text[i]) : text[i] != form) {
                return false;
            }
        }
        for (int i = fraction + 1; i < length - 1; i++) {
            if (!isDigit(text[i])) {
                return false;
            }
        }
        return length != fraction + 2 && length <= fraction + 11; // digits follow a decimal point, nine at most
    }

    private static Instant usual(byte[] text) {
        LocalDate day = LocalDate.of(100 * two(text, 0) + two(text, 2), two(text, 5), two(text, 8));
        int hour = two(text, 11);
        int minute = two(text, 14);
        int second = two(text, 17);
        if (hour > 23 || minute > 59 || second > 59) {
            throw new DateTimeException("no time of day");
        }
        return Instant.ofEpochSecond(day.toEpochDay() * SECONDS_OF_DAY + hour * 3600L + minute * 60L + second);
    }

    private static int two(byte[] text, int at) {
        return (text[at] - '0') * 10 + text[at + 1] - '0';
    }

    private static boolean isDigit(byte c) {
        return c >= '0' && c <= '9';
    }
}
