package io.penstock.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Digests;
import io.penstock.embeddeds3.EmbeddedS3;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestInputStream;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/** The contents of the demo's bucket. They follow from the keys alone, so every byte can be computed again. */
final class DemoData {
    static final String BUCKET = "demo";
    static final String SHARD = "shards/train-00000.tar";
    static final long SHARD_SIZE = 300L << 20;
    static final String MODEL = "models/model-00001.safetensors";
    static final long MODEL_SIZE = 64L << 20;
    static final int CLASSES = 8;
    static final int SAMPLES = 400;

    private static final int BLOCK = 1 << 20;

    /** SHA-256 in hexadecimal of every object, by key. */
    private final Map<String, String> digests = new LinkedHashMap<>();

    private DemoData() {}

    /** Fills the bucket. */
    static DemoData store(EmbeddedS3 server) throws IOException {
        DemoData data = new DemoData();
        server.createBucket(BUCKET);
        for (int number = 0; number < SAMPLES; number++) {
            byte[] text = sample(number).getBytes(UTF_8);
            data.put(server, sampleKey(number), new ByteArrayInputStream(text), text.length);
        }
        data.put(server, SHARD, new Bytes(SHARD, SHARD_SIZE), SHARD_SIZE);
        data.put(server, MODEL, new Bytes(MODEL, MODEL_SIZE), MODEL_SIZE);
        return data;
    }

    Map<String, String> digests() {
        return digests;
    }

    static String sampleKey(int number) {
        return String.format(Locale.ROOT, "samples/class-%02d/%05d.json", number % CLASSES, number);
    }

    static String sample(int number) {
        return String.format(
                Locale.ROOT,
                "{\"id\": %d, \"label\": \"class-%02d\", \"caption\": \"a photograph of thing number %d\"}%n",
                number,
                number % CLASSES,
                number);
    }

    /** One block of a large object. */
    static byte[] bytes(String key, long block) {
        byte[] bytes = new byte[BLOCK];
        new SplittableRandom(key.hashCode() * 31L + block).nextBytes(bytes);
        return bytes;
    }

    static int blockSize() {
        return BLOCK;
    }

    private void put(EmbeddedS3 server, String key, InputStream content, long size) throws IOException {
        try (DigestInputStream digesting = new DigestInputStream(content, Digests.sha256())) {
            server.put(BUCKET, key, digesting, size);
            digests.put(
                    key, HexFormat.of().formatHex(digesting.getMessageDigest().digest()));
        }
    }

    /** The SHA-256 in hexadecimal of the rest of the stream, which is closed. */
    static String digest(InputStream content) throws IOException {
        try (DigestInputStream digesting = new DigestInputStream(content, Digests.sha256())) {
            digesting.transferTo(OutputStream.nullOutputStream());
            return HexFormat.of().formatHex(digesting.getMessageDigest().digest());
        }
    }

    /** The first bytes of a large object. */
    static InputStream stream(String key, long size) {
        return new Bytes(key, size);
    }

    /** A large object as a stream. Confined to one thread. */
    private static final class Bytes extends InputStream {
        private final String key;
        private final long size;
        private byte[] block = new byte[0];
        private long position;

        Bytes(String key, long size) {
            this.key = key;
            this.size = size;
        }

        @Override
        public int read() {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] to, int offset, int length) {
            if (position == size) {
                return -1;
            }
            int within = (int) (position % BLOCK);
            if (within == 0) {
                block = bytes(key, position / BLOCK);
            }
            int taken = (int) Math.min(Math.min(length, BLOCK - within), size - position);
            System.arraycopy(block, within, to, offset, taken);
            position += taken;
            return taken;
        }
    }
}
