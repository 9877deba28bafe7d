package io.penstock.objectstore.s3;

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
    /** The format of all known servers, with or without a fraction. Letters represent digits. */
    private static final String FORM = "yyyy-MM-ddTHH:mm:ss";

    private static final int SECONDS_OF_DAY = 86_400;

    private ListingTime() {}

    /** Null if the text is not a time. */
    static @Nullable Instant parse(String text) {
        try {
            return isUsual(text)
                    ? usual(text)
                    : DateUtils.parseIso8601Date(text).truncatedTo(ChronoUnit.SECONDS);
        } catch (DateTimeException _) {
            return null;
        }
    }

    private static boolean isUsual(String text) {
        int length = text.length();
        int fraction = FORM.length();
        if (length <= fraction
                || text.charAt(length - 1) != 'Z'
                || (text.charAt(fraction) != '.' && fraction != length - 1)) {
            return false;
        }
        for (int i = 0; i < fraction; i++) {
            char form = FORM.charAt(i);
            boolean isDigit = form != '-' && form != 'T' && form != ':';
            if (isDigit ? !isDigit(text.charAt(i)) : text.charAt(i) != form) {
                return false;
            }
        }
        for (int i = fraction + 1; i < length - 1; i++) {
            if (!isDigit(text.charAt(i))) {
                return false;
            }
        }
        return length != fraction + 2 && length <= fraction + 11; // a decimal point is followed by one to nine digits
    }

    private static Instant usual(String text) {
        LocalDate day = LocalDate.of(100 * two(text, 0) + two(text, 2), two(text, 5), two(text, 8));
        int hour = two(text, 11);
        int minute = two(text, 14);
        int second = two(text, 17);
        if (hour > 23 || minute > 59 || second > 59) {
            throw new DateTimeException("not a time of day");
        }
        return Instant.ofEpochSecond(day.toEpochDay() * SECONDS_OF_DAY + hour * 3600L + minute * 60L + second);
    }

    private static int two(String text, int at) {
        return (text.charAt(at) - '0') * 10 + text.charAt(at + 1) - '0';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
