package io.penstock.testing;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.random.RandomGenerator;

/** Keys like those of the worst buckets. */
public final class RandomKeys {
    /** The order in which S3 lists. */
    public static final Comparator<String> ORDER =
            Comparator.comparing(key -> key.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    private static final int MAX_KEY_BYTES = 1024;

    private static final List<String> PARTS = List.of(
            "a",
            "b",
            "c",
            "-",
            ".",
            "/",
            "/",
            "/",
            "//",
            "0",
            "a/",
            "a-",
            "é",
            "€",
            "\0",
            "~",
            "\u007f",
            "\uffff",
            "\ue000",
            "😀",
            "🚀",
            "\ud800\udc00",
            ".jpg",
            "imgs/000",
            "x".repeat(40),
            "y".repeat(300));

    private RandomKeys() {}

    /** At most this many, in order. */
    public static NavigableSet<String> set(RandomGenerator random, int most) {
        NavigableSet<String> keys = new TreeSet<>(ORDER);
        int count = random.nextInt(most + 1);
        int parts = random.nextInt(2, PARTS.size() + 1);
        String shared = random.nextInt(4) == 0 ? "z".repeat(random.nextInt(300)) : "";
        String folder = shared;
        for (int i = 0; i < count; i++) {
            if (random.nextInt(10) == 0) {
                folder = shared + text(random, parts) + "/";
            }
            String key = folder + text(random, parts);
            if (random.nextInt(50) == 0) {
                int bytes = key.getBytes(StandardCharsets.UTF_8).length;
                key += "l".repeat(Math.max(0, MAX_KEY_BYTES - bytes));
            }
            keys.add(key);
        }
        return keys;
    }

    private static String text(RandomGenerator random, int parts) {
        StringBuilder text = new StringBuilder();
        int count = random.nextInt(1, 5);
        for (int i = 0; i < count; i++) {
            text.append(PARTS.get(random.nextInt(parts)));
        }
        return text.toString();
    }

    /** A key to look up among such keys: one of them, the beginning of one, or a neighbour. */
    public static String near(RandomGenerator random, List<String> keys) {
        String text = keys.isEmpty() || random.nextInt(8) == 0
                ? text(random, PARTS.size())
                : keys.get(random.nextInt(keys.size()));
        return switch (random.nextInt(5)) {
            case 0 -> text;
            case 1 -> text + PARTS.get(random.nextInt(PARTS.size()));
            default ->
                text.substring(
                        0, text.offsetByCodePoints(0, random.nextInt(text.codePointCount(0, text.length()) + 1)));
        };
    }

    /** A prefix that ends with one of the slashes in the keys; the root if the drawn key has none. */
    public static String folder(RandomGenerator random, List<String> keys) {
        if (keys.isEmpty()) {
            return "";
        }
        String key = keys.get(random.nextInt(keys.size()));
        int slash = key.indexOf('/', random.nextInt(key.length()));
        return key.substring(0, slash + 1);
    }
}
