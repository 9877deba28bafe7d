package io.penstock.testing;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** An object's bytes: held, or made up by offset so that an object of any size takes no memory. Immutable. */
public interface Content {
    /** In bytes. */
    long size();

    /** The entity tag with its quotes. Equal tags mean equal bytes. */
    String etag();

    /** Fills all that remains of {@code target} with the bytes from {@code offset} on; they must exist. */
    void read(long offset, ByteBuffer target);

    /** These bytes, held; their entity tag is their MD5, as S3 does it. */
    static Content of(byte[] bytes) {
        return new Held(bytes.clone());
    }

    /** A range of another content, which shares its memory. */
    static Content slice(Content whole, long offset, long length) {
        return offset == 0 && length == whole.size() ? whole : new Slice(whole, offset, length);
    }

    /** Bytes in memory. */
    final class Held implements Content {
        private final byte[] bytes;
        private final String etag;

        private Held(byte[] bytes) {
            this.bytes = bytes;
            this.etag = md5(bytes, "");
        }

        @Override
        public long size() {
            return bytes.length;
        }

        @Override
        public String etag() {
            return etag;
        }

        @Override
        public void read(long offset, ByteBuffer target) {
            target.put(bytes, Math.toIntExact(offset), target.remaining());
        }
    }

    /** A part of another content. */
    record Slice(Content whole, long offset, long size) implements Content {
        public Slice {
            if (offset < 0 || size < 0 || offset + size > whole.size()) {
                throw new IllegalArgumentException(offset + "+" + size + " lies outside " + whole.size() + " bytes");
            }
        }

        /** Not the MD5 of its bytes, of which there may be very many. */
        @Override
        public String etag() {
            return md5((whole.etag() + offset + "+" + size).getBytes(StandardCharsets.UTF_8), "");
        }

        @Override
        public void read(long position, ByteBuffer target) {
            whole.read(offset + position, target);
        }
    }

    /** Nothing but a size and a checksum: what a store of objects that no memory could hold keeps of what it was sent. */
    record Measured(long size, int crc32c) implements Content {
        @Override
        public String etag() {
            return String.format("\"%08x%016x-0\"", crc32c, size);
        }

        /** @throws UnsupportedOperationException always: the bytes are not there */
        @Override
        public void read(long offset, ByteBuffer target) {
            throw new UnsupportedOperationException("of this content only size and checksum are kept");
        }
    }

    /** Several contents, one after the other: what a multipart upload makes. */
    final class Composed implements Content {
        private final List<Content> pieces;
        private final NavigableMap<Long, Content> byOffset = new TreeMap<>();
        private final long size;

        /** @param pieces at least one */
        Composed(List<Content> pieces) {
            this.pieces = List.copyOf(pieces);
            long offset = 0;
            for (Content piece : pieces) {
                byOffset.put(offset, piece);
                offset += piece.size();
            }
            size = offset;
        }

        /** In order. */
        List<Content> pieces() {
            return pieces;
        }

        @Override
        public long size() {
            return size;
        }

        /** As S3 makes it, of the parts' tags and their number. */
        @Override
        public String etag() {
            return etagOf(pieces.stream().map(Content::etag).toList());
        }

        static String etagOf(List<String> pieces) {
            return md5(String.join("", pieces).getBytes(StandardCharsets.UTF_8), "-" + pieces.size());
        }

        @Override
        public void read(long offset, ByteBuffer target) {
            int limit = target.limit();
            long at = offset;
            while (target.hasRemaining()) {
                Map.Entry<Long, Content> piece = byOffset.floorEntry(at);
                long within = at - piece.getKey();
                int length = (int) Math.min(target.remaining(), piece.getValue().size() - within);
                piece.getValue().read(within, target.limit(target.position() + length));
                target.limit(limit);
                at += length;
            }
        }
    }

    private static String md5(byte[] bytes, String suffix) {
        try {
            byte[] md5 = MessageDigest.getInstance("MD5").digest(bytes);
            return '"' + HexFormat.of().formatHex(md5) + suffix + '"';
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has MD5", e);
        }
    }
}
