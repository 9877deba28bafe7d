package io.penstock.testing;

import io.penstock.objectstore.KeyOrder;
import java.util.Base64;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.UUID;
import java.util.random.RandomGenerator;

/** Sets of keys, usual and unusual ones. */
public enum KeySets {
    NUMBERED {
        @Override
        public String key(int i, RandomGenerator random) {
            return "n%08d.JPEG".formatted(i);
        }
    },
    NUMBERED_WITHOUT_ZEROS {
        @Override
        public String key(int i, RandomGenerator random) {
            return "part-" + i;
        }
    },
    HASHED {
        @Override
        public String key(int i, RandomGenerator random) {
            return "%016x".formatted(random.nextLong());
        }
    },
    UUIDS {
        @Override
        public String key(int i, RandomGenerator random) {
            return new UUID(random.nextLong(), random.nextLong()).toString();
        }
    },
    BASE64 {
        @Override
        public String key(int i, RandomGenerator random) {
            byte[] bytes = new byte[12];
            random.nextBytes(bytes);
            return Base64.getUrlEncoder().encodeToString(bytes);
        }
    },
    FOLDERS {
        @Override
        public String key(int i, RandomGenerator random) {
            return "imgs/%05d/%09d.jpg".formatted(i / 1_000, i);
        }
    },
    SMALL_FOLDERS {
        @Override
        public String key(int i, RandomGenerator random) {
            return "%d/%d".formatted(i / 7, i);
        }
    },
    DEEP {
        @Override
        public String key(int i, RandomGenerator random) {
            StringBuilder key = new StringBuilder();
            for (int depth = random.nextInt(1, 9); depth > 0; depth--) {
                key.append((char) ('a' + random.nextInt(3))).append('/');
            }
            return key.append(i).toString();
        }
    },
    LONG_COMMON_PREFIX {
        @Override
        public String key(int i, RandomGenerator random) {
            return "warehouse/db/".repeat(10) + i;
        }
    },
    WORDS {
        @Override
        public String key(int i, RandomGenerator random) {
            StringBuilder key = new StringBuilder();
            for (int length = random.nextInt(1, 8); length > 0; length--) {
                key.append((char) ('a' + 26 * Math.pow(random.nextDouble(), 2)));
            }
            return key.append('-').append(i).toString();
        }
    },
    SKEWED {
        @Override
        public String key(int i, RandomGenerator random) {
            return i % 20 == 0 ? "%c/%d".formatted('a' + i % 26, i) : "m/data/shard-%06d/x".formatted(i);
        }
    },
    /** Where the order of UTF-8 differs from that of strings, in scripts of many characters and of few. */
    UNUSUAL {
        @Override
        public String key(int i, RandomGenerator random) {
            StringBuilder key = new StringBuilder();
            for (int length = random.nextInt(1, 5); length > 0; length--) {
                key.appendCodePoint(
                        switch (random.nextInt(6)) {
                            case 0 -> '/';
                            case 1 -> random.nextInt(0xD7F0, 0xD800);
                            case 2 -> random.nextInt(0xE000, 0xE010);
                            case 3 -> random.nextInt(0xFFF0, 0xFFFE);
                            case 4 -> random.nextInt(0x10000, 0x10010);
                            default -> random.nextInt(0x10FFF0, 0x10FFFF);
                        });
            }
            return key.toString();
        }
    },
    CHINESE {
        @Override
        public String key(int i, RandomGenerator random) {
            return Character.toString(random.nextInt(0x4E00, 0x5800)) + random.nextInt();
        }
    };

    /** One of the keys, not always another one. */
    public abstract String key(int i, RandomGenerator random);

    /** That many, or a few less. */
    public NavigableSet<String> keys(int count, RandomGenerator random) {
        NavigableSet<String> keys = new TreeSet<>(KeyOrder.COMPARATOR);
        for (int i = 0; i < count; i++) {
            keys.add(key(i, random));
        }
        return keys;
    }

    public static KeySets any(RandomGenerator random) {
        return List.of(values()).get(random.nextInt(values().length));
    }
}
