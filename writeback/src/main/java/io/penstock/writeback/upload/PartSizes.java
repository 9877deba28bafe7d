package io.penstock.writeback.upload;

/** The sizes that the parts of an upload may have. */
public enum PartSizes {
    /** Small ones first, and larger ones as the file grows, so that 10,000 are enough for any. */
    GROWING,
    /** One size for all but the last, as some stores demand: Cloudflare R2 does. */
    EQUAL
}
