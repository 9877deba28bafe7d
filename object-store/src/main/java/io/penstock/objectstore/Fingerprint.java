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
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/**
 * By what a written object is known again when the answer to its writing was lost. Either tag proves it; a store that
 * has neither (another way of making ETags, and no checksums) leaves the question open, and the write counts as failed.
 *
 * @param size bytes
 * @param etag if the store makes ETags of MD5s; null if that is known not to be so
 * @param crc32c as S3 writes it; null if it is not known
 */
record Fingerprint(
        long size, @Nullable String etag, @Nullable String crc32c) {
    private static final Pattern MD5 = Pattern.compile("\"[0-9a-f]{32}\"");

    /** Of an object stored as a whole. */
    static Fingerprint ofWhole(long size, byte[] md5, OptionalInt crc32c) {
        return new Fingerprint(
                size,
                '"' + HexFormat.of().formatHex(md5) + '"',
                crc32c.isEmpty() ? null : BodyChecksums.encode(crc32c.getAsInt()));
    }

    /** Of an object made of parts: S3 takes the MD5 of their MD5s, and the checksum of their checksums. */
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

    /** Of a whole copy: it has its source's ETag where that is an MD5; of a source in parts nothing tells. */
    static Fingerprint ofCopy(ObjectVersion source) {
        return new Fingerprint(source.size(), MD5.matcher(source.etag()).matches() ? source.etag() : null, null);
    }

    boolean isOf(HeadObjectResponse object) {
        return object.contentLength() == size
                && (object.eTag().equals(etag) || (crc32c != null && crc32c.equals(object.checksumCRC32C())));
    }
}
