package io.penstock.writeback.upload;

import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.UploadedPart;
import java.util.Map;

/**
 * An upload recorded by an earlier run in its {@link UploadJournal}.
 *
 * @param parts by their numbers
 */
public record JournalledUpload(MultipartUpload upload, PartLayout layout, Map<Integer, Part> parts) {
    public JournalledUpload {
        parts = Map.copyOf(parts);
    }

    /** An uploaded part, and the CRC32C of its bytes. */
    public record Part(UploadedPart part, int crc32c) {}
}
