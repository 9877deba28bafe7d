package io.penstock.writeback.upload;

import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.UploadedPart;
import java.util.Map;

/**
 * An upload as an earlier run noted it, by its {@link UploadJournal}.
 *
 * @param parts by their numbers
 */
public record JournalledUpload(MultipartUpload upload, PartLayout layout, Map<Integer, Part> parts) {
    public JournalledUpload {
        parts = Map.copyOf(parts);
    }

    /** A part that was up, and the CRC32C of its bytes. */
    public record Part(UploadedPart part, int crc32c) {}
}
