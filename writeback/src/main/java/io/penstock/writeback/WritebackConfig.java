package io.penstock.writeback;

import io.penstock.writeback.upload.Uploads.PartSizes;
import io.penstock.writeback.upload.WritebackLimits;
import java.nio.file.Path;

/**
 * How files are written.
 *
 * @param staging folder for written data that is not committed yet; created with mode 0700 if missing. Locked: one
 *     process at a time uses it
 * @param close when close(2) returns
 * @param fsync the state that fsync(2) waits for
 * @param partSizes of uploads, unless the store refuses them
 * @param largestObjectBytes the largest object that the store takes: 5 TiB on most, 50 TB on S3 itself
 * @param limits initial limits; they may change while mounted
 */
public record WritebackConfig(
        Path staging,
        Close close,
        Fsync fsync,
        PartSizes partSizes,
        long largestObjectBytes,
        WritebackLimits.Values limits) {
    /** When close(2) returns. */
    public enum Close {
        /** Once the object is visible to the next open, here or elsewhere. */
        VISIBLE,
        /** Once its content would survive a crash of the node; it is uploaded in the background. */
        STAGED
    }

    /** The state that fsync(2) waits for. */
    public enum Fsync {
        /** The content would survive a crash of the node: it is staged with its journal, both fdatasynced. */
        STAGED,
        /** The object is visible. */
        VISIBLE
    }
}
