package io.penstock.objectstore;

import io.penstock.core.ObjectVersion;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Identifies a written object when the response to its write was lost. A matching ETag or checksum proves the write. A
 * store with neither (other ETags, no checksums) leaves it in doubt, and the write counts as failed.
 *
 * @param size bytes
 * @param etag the ETag, if the store makes ETags from MD5s; null if it is known not to
 * @param crc32c in S3's form; null if it is unknown
 */
record Fingerprint(
        long size, @Nullable String etag, @Nullable String crc32c) {
    private static final Pattern MD5 = Pattern.compile("\"[0-9a-f]{32}\"");

    /** The fingerprint of an object stored as a whole. */
    static Fingerprint ofWhole(long size, byte[] md5, OptionalInt crc32c) {
        return new Fingerprint(
                size,
                '"' + HexFormat.of().formatHex(md5) + '"',
                crc32c.isEmpty() ? null : BodyChecksums.encode(crc32c.getAsInt()));
    }

    /**
     * The fingerprint of a multipart object. S3 takes the MD5 of the parts' MD5s, and the checksum of their checksums.
     */
    static Fingerprint ofParts(List<UploadedPart> parts) {
        long size = parts.stream().mapToLong(UploadedPart::size).sum();
        String suffix = "-" + parts.size();
        String etag = null;
        if (parts.stream().allMatch(part -> MD5.matcher(part.etag()).matches())) {
            MessageDigest md5 = BodyChecksums.md5();
            parts.forEach(part -> md5.update(HexFormat.of().parseHex(part.etag(), 1, 33)));
            etag = '"' + HexFormat.of().formatHex(md5.digest()) + suffix + '"';
        }
        String crc32c = null;
        if (parts.stream().allMatch(part -> part.crc32c().isPresent())) {
            CRC32C crc = new CRC32C();
            parts.forEach(part -> crc.update(Base64.getDecoder()
                    .decode(BodyChecksums.encode(part.crc32c().orElseThrow()))));
            crc32c = BodyChecksums.encode((int) crc.getValue()) + suffix;
        }
        return new Fingerprint(size, etag, crc32c);
    }

    /**
     * The fingerprint of a whole copy. It has its source's ETag if that is an MD5; a multipart source cannot be
     * recognised.
     */
    static Fingerprint ofCopy(ObjectVersion source) {
        return new Fingerprint(source.size(), MD5.matcher(source.etag()).matches() ? source.etag() : null, null);
    }

    boolean isOf(ObjectHead object) {
        return object.size() == size
                && (object.etag().equals(etag)
                        || (crc32c != null && crc32c.equals(object.header("x-amz-checksum-crc32c"))));
    }
}
