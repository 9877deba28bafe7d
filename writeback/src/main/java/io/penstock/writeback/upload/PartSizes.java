package io.penstock.writeback.upload;

/** The sizes that the parts of an upload may have. */
public enum PartSizes {
    /** Small ones first, larger ones as the file grows, so that 10,000 are enough for any file. */
    GROWING,
    /** One size for all but the last, as some stores require, such as Cloudflare R2. */
    EQUAL
}
