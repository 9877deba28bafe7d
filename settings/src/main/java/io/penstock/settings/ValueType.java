package io.penstock.settings;

import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The type of a setting's value: parses it, prints it, and describes the allowed values in errors.
 *
 * @param <T> the parsed value
 */
public final class ValueType<T> {
    private static final String PATH_SEPARATOR = ":";
    private static final BigDecimal HIGHEST_PRICE = BigDecimal.valueOf(1_000_000_000);
    private static final String DNS = "dns:";
    private static final int LONGEST_PRICE = 20;
    private static final Pattern ADDRESS =
            Pattern.compile("(?:\\[(?<ipv6>[0-9A-Fa-f:.]+)]|(?<host>[A-Za-z0-9.-]+)):(?<port>[0-9]{1,5})");

    private final String label;
    private final String allowed;
    private final String bounds;
    private final boolean flag;
    private final Function<String, @Nullable T> parser;
    private final Function<T, String> printer;
    private final BiFunction<T, String, T> forBucket;

    /** How the value may be written as a YAML list; null if it may not. */
    private final @Nullable Elements elements;

    /**
     * The elements of a value that may be a YAML list.
     *
     * @param separator separates them where the value is one text; no element contains it
     * @param allowed the allowed elements, as the end of a sentence
     */
    record Elements(String separator, String allowed) {}

    private ValueType(
            String label,
            String allowed,
            boolean flag,
            Function<String, @Nullable T> parser,
            Function<T, String> printer) {
        this(label, allowed, "", flag, parser, printer, (value, bucket) -> value, null);
    }

    private ValueType(
            String label,
            String allowed,
            String bounds,
            boolean flag,
            Function<String, @Nullable T> parser,
            Function<T, String> printer,
            BiFunction<T, String, T> forBucket,
            @Nullable Elements elements) {
        this.label = label;
        this.allowed = allowed;
        this.bounds = bounds;
        this.flag = flag;
        this.parser = parser;
        this.printer = printer;
        this.forBucket = forBucket;
        this.elements = elements;
    }

    private ValueType<T> listed(String separator, String allowedElement) {
        return new ValueType<>(
                label, allowed, bounds, flag, parser, printer, forBucket, new Elements(separator, allowedElement));
    }

    /** The same with these bounds, with which {@link #allowed} ends. */
    private ValueType<T> bounded(String within) {
        return new ValueType<>(label, allowed, within, flag, parser, printer, forBucket, elements);
    }

    /** A number of bytes from {@code least} to {@code most}. */
    static ValueType<Long> size(long least, long most) {
        String bounds = most == Long.MAX_VALUE
                ? ByteSizes.print(least) + " or more"
                : "from " + ByteSizes.print(least) + " to " + ByteSizes.print(most);
        return new ValueType<>(
                        "<size>",
                        "a size with a unit, such as 512MiB, 64GiB or 1.5TiB, " + bounds,
                        false,
                        checked(ByteSizes::parse, bytes -> bytes >= least && bytes <= most),
                        ByteSizes::print)
                .bounded(least == 0 ? "" : bounds);
    }

    /** A whole number of MiB from {@code least} to {@code most} bytes. */
    static ValueType<Long> mebibytes(long least, long most) {
        return multiples(1 << 20, least, most);
    }

    /** A multiple of {@code unit} bytes from {@code least} to {@code most}. */
    static ValueType<Long> multiples(int unit, long least, long most) {
        ValueType<Long> size = size(least, most);
        String multiples = ", in multiples of " + ByteSizes.print(unit);
        return new ValueType<>(
                        size.label,
                        size.allowed + multiples,
                        false,
                        checked(size.parser, bytes -> bytes % unit == 0),
                        size.printer)
                .bounded(size.bounds.isEmpty() ? "" : size.bounds + multiples);
    }

    /** A duration from {@code least} to {@code most}. */
    static ValueType<Duration> duration(Duration least, Duration most) {
        String bounds = "from " + Durations.print(least) + " to " + Durations.print(most);
        return new ValueType<>(
                        "<time>",
                        "a duration with a unit, such as 250ms, 60s or 5m, " + bounds,
                        false,
                        checked(Durations::parse, time -> time.compareTo(least) >= 0 && time.compareTo(most) <= 0),
                        Durations::print)
                .bounded(least.isZero() ? "" : bounds);
    }

    /** A whole number from {@code least} to {@code most}. */
    static ValueType<Integer> integer(int least, int most) {
        String bounds = "from " + least + " to " + most;
        return new ValueType<>(
                        "<number>",
                        "a whole number " + bounds,
                        false,
                        checked(text -> integerOrNull(text, 10), number -> number >= least && number <= most),
                        String::valueOf)
                .bounded(least == 0 ? "" : bounds);
    }

    /** An amount of money in any currency: 0 or more. */
    static ValueType<BigDecimal> price() {
        return new ValueType<>(
                "<price>",
                "a number such as 0.0004, from 0 to 1000000000",
                false,
                checked(
                        ValueType::decimalOrNull,
                        price -> price.signum() >= 0
                                && price.scale() <= LONGEST_PRICE
                                && price.compareTo(HIGHEST_PRICE) <= 0),
                BigDecimal::toPlainString);
    }

    private static @Nullable BigDecimal decimalOrNull(String text) {
        try {
            return text.length() > LONGEST_PRICE ? null : new BigDecimal(text);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /** Permission bits in octal, as chmod takes them. */
    static ValueType<Integer> mode() {
        return new ValueType<>(
                "<mode>",
                "permission bits in octal such as 0644, from 0000 to 0777",
                false,
                checked(text -> integerOrNull(text, 8), bits -> bits >= 0 && bits <= 0777),
                bits -> String.format(Locale.ROOT, "%04o", bits));
    }

    /** True or false; an option without a value means true. */
    static ValueType<Boolean> flag() {
        return new ValueType<>(
                "true|false",
                "true or false",
                true,
                text -> switch (text.toLowerCase(Locale.ROOT)) {
                    case "true" -> Boolean.TRUE;
                    case "false" -> Boolean.FALSE;
                    default -> null;
                },
                String::valueOf);
    }

    /** One of these words, in upper or lower case. */
    static ValueType<String> choice(String... allowed) {
        List<String> words = List.of(allowed);
        String last = words.getLast();
        String rest = words.stream().limit(words.size() - 1L).collect(Collectors.joining(", "));
        return new ValueType<>(
                String.join("|", words),
                rest.isEmpty() ? last : rest + " or " + last,
                false,
                text -> words.stream()
                        .filter(word -> word.equalsIgnoreCase(text))
                        .findFirst()
                        .orElse(null),
                word -> word);
    }

    /** The address of a server: scheme, host, port, and nothing after them. */
    static ValueType<URI> server() {
        return new ValueType<>(
                "<url>",
                "a server's address such as http://127.0.0.1:9000 or https://s3.example.com, without a path",
                false,
                ValueType::serverOrNull,
                URI::toString);
    }

    /** The address of a proxy: like a server's, but always with a port. */
    static ValueType<URI> proxy() {
        return new ValueType<>(
                "<url>",
                "a proxy's address with its port, such as http://proxy.example.com:3128, without a path",
                false,
                checked(ValueType::serverOrNull, uri -> uri.getPort() > 0),
                URI::toString);
    }

    /** An address to listen on: host and port. */
    static ValueType<InetSocketAddress> address() {
        return new ValueType<>(
                "<host:port>",
                "an address of this machine and a port such as 127.0.0.1:9090, [::1]:9090 or 0.0.0.0:9090",
                false,
                ValueType::addressOrNull,
                ValueType::print);
    }

    /** The address at which the other nodes of a cache group reach this one; the next port is used too. */
    static ValueType<InetSocketAddress> ownNode() {
        return new ValueType<>(
                "<host:port>",
                "an address of this machine that other nodes can reach, with a port up to " + Peers.HIGHEST_PORT
                        + ", such as 10.0.0.1:7420 or [fd00::3]:7420",
                false,
                checked(
                        ValueType::addressOrNull,
                        address -> address.getPort() <= Peers.HIGHEST_PORT && !isWildcard(address.getHostString())),
                ValueType::print);
    }

    /** Whether it means all addresses of a machine. */
    private static boolean isWildcard(String host) {
        try {
            return InetAddress.ofLiteral(host).isAnyLocalAddress();
        } catch (IllegalArgumentException e) {
            return false; // a name
        }
    }

    private static String print(InetSocketAddress address) {
        String host = address.getHostString();
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
    }

    /** The nodes of a cache group, or how to find them; in YAML, nodes may be a list. */
    static ValueType<Peers> peers() {
        return new ValueType<Peers>(
                        "<peers>",
                        "bucket, dns:NAME, dns:NAME:PORT, or nodes separated by commas or semicolons, such as"
                                + " 10.0.0.1,node2:7420,[fd00::3]",
                        false,
                        ValueType::peersOrNull,
                        peers -> switch (peers) {
                            case Peers.InBucket() -> "bucket";
                            case Peers.OfName(String name, int port) -> DNS + name + ":" + port;
                            case Peers.Listed(List<InetSocketAddress> nodes) ->
                                nodes.stream().map(ValueType::print).collect(Collectors.joining(","));
                        })
                .listed(",", "a node such as 10.0.0.1, node2:7420 or [fd00::3]");
    }

    /** A URL: scheme, host, and optionally a port and a path. */
    static ValueType<URI> url() {
        return new ValueType<>(
                "<url>",
                "an address such as http://127.0.0.1:4318 or https://otlp.example.com/v1/metrics",
                false,
                ValueType::urlOrNull,
                URI::toString);
    }

    /** A file or folder; {@code ~/} is the user's home, and a relative path starts at the current folder. */
    static ValueType<Path> path() {
        return new ValueType<>(
                "<path>",
                "a path, in which {bucket} is replaced by the bucket's name",
                "",
                false,
                text -> {
                    try {
                        return text.isBlank() ? null : Host.current().path(text);
                    } catch (InvalidPathException e) {
                        return null;
                    }
                },
                Path::toString,
                (path, bucket) -> Path.of(path.toString().replace("{bucket}", bucket)),
                null);
    }

    /** A word that matches the pattern. */
    static ValueType<String> word(String label, String allowed, Pattern pattern) {
        return new ValueType<>(
                label, allowed, false, text -> pattern.matcher(text).matches() ? text : null, Function.identity());
    }

    /** Paths below the mount point: a list in YAML, separated by colons elsewhere. */
    static ValueType<List<String>> paths() {
        return new ValueType<List<String>>(
                        "<paths>",
                        "paths below the mount point: a list, or a text separated by colons",
                        false,
                        text -> {
                            List<String> paths = Arrays.stream(text.split(PATH_SEPARATOR, -1))
                                    .filter(path -> !path.isBlank())
                                    .toList();
                            return paths.isEmpty() ? null : paths;
                        },
                        paths -> String.join(PATH_SEPARATOR, paths))
                .listed(PATH_SEPARATOR, "a path without a colon; ? matches any character");
    }

    /** The placeholder in a synopsis: {@code <size>}. */
    public String label() {
        return label;
    }

    /** The allowed values, as the end of a sentence. */
    public String allowed() {
        return allowed;
    }

    /** The bounds of a number, a size or a time that may not be 0; else empty. */
    public String bounds() {
        return bounds;
    }

    /** How the value may be written as a YAML list; null if it may not. */
    @Nullable
    Elements elements() {
        return elements;
    }

    /** Whether the value is true or false. */
    public boolean isFlag() {
        return flag;
    }

    /** @return null if the text is not {@link #allowed} */
    public @Nullable T parse(String text) {
        return parser.apply(text.strip());
    }

    /** As a user would write it: {@link #parse} restores the value. */
    public String print(T value) {
        return printer.apply(value);
    }

    /** The value for one bucket. */
    T forBucket(T value, String bucket) {
        return forBucket.apply(value, bucket);
    }

    private static <T> Function<String, @Nullable T> checked(
            Function<String, @Nullable T> parser, Predicate<T> inBounds) {
        return text -> {
            T value = parser.apply(text);
            return value != null && inBounds.test(value) ? value : null;
        };
    }

    private static @Nullable Integer integerOrNull(String text, int radix) {
        try {
            return Integer.valueOf(text, radix);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private static @Nullable InetSocketAddress addressOrNull(String text) {
        Matcher parts = ADDRESS.matcher(text);
        Integer port = parts.matches() ? integerOrNull(parts.group("port"), 10) : null;
        return port == null || port < 1 || port > 65_535
                ? null
                : InetSocketAddress.createUnresolved(
                        Objects.requireNonNullElse(parts.group("ipv6"), parts.group("host")), port);
    }

    private static @Nullable Peers peersOrNull(String text) {
        if (text.equals("bucket")) {
            return new Peers.InBucket();
        }
        if (text.startsWith(DNS)) {
            InetSocketAddress address = nodeOrNull(text.substring(DNS.length()));
            return address == null ? null : new Peers.OfName(address.getHostString(), address.getPort());
        }
        List<InetSocketAddress> nodes = new ArrayList<>();
        for (String each : text.split("[,;]", -1)) {
            InetSocketAddress node = nodeOrNull(each.strip());
            if (node == null) {
                return null;
            }
            nodes.add(node);
        }
        return new Peers.Listed(nodes);
    }

    /** With {@link Peers#PORT} if the text has no port. */
    private static @Nullable InetSocketAddress nodeOrNull(String text) {
        boolean hasPort = text.matches(".*[^:]:[0-9]+");
        InetSocketAddress node = addressOrNull(hasPort ? text : text + ":" + Peers.PORT);
        return node == null || node.getPort() > Peers.HIGHEST_PORT ? null : node;
    }

    private static @Nullable URI urlOrNull(String text) {
        try {
            URI uri = new URI(text);
            boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
            return http && uri.getHost() != null && uri.getUserInfo() == null ? uri : null;
        } catch (URISyntaxException e) {
            return null;
        }
    }

    private static @Nullable URI serverOrNull(String text) {
        try {
            URI uri = new URI(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
            boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
            boolean bare = uri.getRawPath() != null
                    && uri.getRawPath().isEmpty()
                    && uri.getQuery() == null
                    && uri.getUserInfo() == null;
            return http && bare && uri.getHost() != null ? uri : null;
        } catch (URISyntaxException e) {
            return null;
        }
    }
}
