package io.penstock.listing;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.RandomKeys;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;

/** Creates tables of objects, with random builders and pages, and knows the page of each object. */
final class KeyTables {
    /** In order. */
    final List<StoredObject> objects;

    /** The times at which pages were requested, in the order of their keys. */
    final List<Long> pageTimes = new ArrayList<>();

    /** The page of each object. */
    private final List<Integer> pages = new ArrayList<>();

    private final RandomGenerator random;

    KeyTables(RandomGenerator random, Collection<StoredObject> inOrder) {
        this.random = random;
        this.objects = List.copyOf(inOrder);
    }

    /** A random object, with a time and storage class close to those of others, or not. */
    static StoredObject object(RandomGenerator random, String key) {
        String hash = "%016x%016x".formatted(random.nextLong(), random.nextLong() >>> random.nextInt(64));
        String etag = switch (random.nextInt(12)) {
            case 0 -> "\"" + hash + "-" + random.nextInt(20_000) + "\"";
            case 1 -> "\"" + hash + "-0" + random.nextInt(9) + "\"";
            case 2 -> "\"\"";
            case 3 -> hash;
            case 4 -> "\"" + hash.toUpperCase(Locale.ROOT) + "\"";
            case 5 -> "\"gateway é\"".repeat(random.nextInt(1, 20));
            default -> "\"" + hash + "\"";
        };
        Instant time = Instant.ofEpochMilli(
                switch (random.nextInt(4)) {
                    case 0 -> random.nextLong(-4_000_000_000_000L, 4_000_000_000_000L);
                    case 1 -> 1_700_000_000_000L + random.nextInt(10_000);
                    default -> 1_700_000_000_000L + 1000L * random.nextInt(10_000);
                });
        long size = random.nextLong() >>> random.nextInt(1, 64);
        String storageClass = random.nextInt(3) > 0 ? "STANDARD" : "CLASS_" + random.nextInt(60);
        return new StoredObject(new ObjectVersion(key, etag, size, time), storageClass);
    }

    /** May be called once. */
    KeyTable build() {
        List<KeyTableBuilder> builders = new ArrayList<>();
        int at = 0;
        do {
            KeyTableBuilder builder = new KeyTableBuilder(random.nextInt(1, 40));
            builders.add(builder);
            int end = random.nextInt(3) == 0 ? at : random.nextInt(at, objects.size() + 1);
            if (at < end || random.nextBoolean()) {
                page(builder);
            }
            for (; at < end; at++) {
                while (random.nextInt(5) == 0) {
                    page(builder);
                }
                builder.add(objects.get(at));
                pages.add(pageTimes.size() - 1);
            }
            while (!pageTimes.isEmpty() && builder.pageCount() > 0 && random.nextInt(4) == 0) {
                page(builder);
            }
            if (random.nextBoolean()) {
                builder.finish();
            }
        } while (at < objects.size() || pageTimes.isEmpty());
        return KeyTable.join(builders);
    }

    private void page(KeyTableBuilder builder) {
        long time = Long.MAX_VALUE + random.nextInt(-1000, 1000); // nano clocks may overflow
        builder.page(time);
        pageTimes.add(time);
    }

    long asOf(int object) {
        return pageTimes.get(pages.get(object));
    }

    /** The oldest request time of the pages that show nothing between the object and the one before it. */
    long asOfGap(int object) {
        int from = object == 0 ? 0 : pages.get(object - 1);
        int to = object == objects.size() ? pageTimes.size() - 1 : pages.get(object);
        return pageTimes.subList(from, to + 1).stream().reduce(KeyCursor::older).orElseThrow();
    }

    /** The index of the first object whose key is not less than this one. */
    int ceiling(String key) {
        int index = 0;
        while (index < objects.size() && RandomKeys.ORDER.compare(key(index), key) < 0) {
            index++;
        }
        return index;
    }

    String key(int index) {
        return objects.get(index).version().key();
    }
}
