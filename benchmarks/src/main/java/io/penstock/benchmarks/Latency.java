package io.penstock.benchmarks;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses durations such as {@code 60ms} and {@code 1s}. */
final class Latency implements ITypeConverter<Duration> {
    private static final Pattern FORMAT = Pattern.compile("(\\d{1,6})(ms|s)");

    @Override
    public Duration convert(String text) {
        Matcher matcher = FORMAT.matcher(text);
        if (!matcher.matches()) {
            throw new TypeConversionException("'" + text + "' is not a time such as 60ms or 1s");
        }
        long number = Long.parseLong(matcher.group(1));
        return matcher.group(2).equals("s") ? Duration.ofSeconds(number) : Duration.ofMillis(number);
    }
}
