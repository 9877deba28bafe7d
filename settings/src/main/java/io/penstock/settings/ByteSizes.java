package io.penstock.settings;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Byte sizes as people write them: {@code 64GiB}, {@code 512M}, {@code 1.5TiB}. The units are those of coreutils: K and
 * KiB are 1024 bytes, KB is 1000. A number without a unit is refused, except 0: a user who writes 64 does not mean 64
 * bytes.
 */
public final class ByteSizes {
    private static final Pattern FORMAT = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*(?:([KMGTP])?(I?B)?)");
    private static final String PREFIXES = "KMGTP";

    private ByteSizes() {}

    /** @return null if the text is not a size, or not a whole number of bytes below 2^63 */
    public static @Nullable Long parse(String text) {
        Matcher matcher = FORMAT.matcher(text.strip().toUpperCase(Locale.ROOT));
        if (!matcher.matches()) {
            return null;
        }
        String prefix = matcher.group(2);
        String unit = matcher.group(3);
        BigDecimal number = new BigDecimal(matcher.group(1));
        if (prefix == null && !"B".equals(unit)) {
            return unit == null && number.signum() == 0 ? 0L : null;
        }
        int power = prefix == null ? 0 : PREFIXES.indexOf(prefix) + 1;
        int base = "B".equals(unit) ? 1000 : 1024;
        try {
            return number.multiply(BigDecimal.valueOf(base).pow(power)).longValueExact();
        } catch (ArithmeticException e) {
            return null;
        }
    }

    /** Rounded to three digits at most: {@code 1.4GiB}. Below 1000 PiB it has six characters at most. */
    public static String about(long bytes) {
        return about((double) bytes);
    }

    /** The same for a rate or a mean. */
    public static String about(double bytes) {
        double number = bytes;
        int power = 0;
        while (number >= 999.5 && power < PREFIXES.length()) {
            number /= 1024;
            power++;
        }
        boolean needsFraction = number < 9.95 && number != Math.rint(number);
        String digits = String.format(Locale.ROOT, needsFraction ? "%.1f" : "%.0f", number);
        return power == 0 ? digits + "B" : digits + PREFIXES.charAt(power - 1) + "iB";
    }

    /** In the largest unit that needs no fraction; {@link #parse} restores the number. */
    public static String print(long bytes) {
        long number = bytes;
        int power = 0;
        while (number != 0 && number % 1024 == 0 && power < PREFIXES.length()) {
            number /= 1024;
            power++;
        }
        return power == 0 ? number + "B" : number + PREFIXES.substring(power - 1, power) + "iB";
    }
}
