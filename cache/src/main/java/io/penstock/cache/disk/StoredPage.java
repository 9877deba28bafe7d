package io.penstock.cache.disk;

/** A page on disk: its place, checksum and state. Safe for use by any number of threads. */
public sealed interface StoredPage permits StoredPage.InOwnFile, PackedPage {
    /** Must be pinned while the page is read. */
    Extent extent();

    /** Its start in the data file of the extent's object. */
    long position();

    /** In bytes. */
    int length();

    /** Whether it may still be read. */
    boolean isThere();

    /** Whether it is known to be intact: written by this process, or checked since it started. */
    boolean isVerified();

    void setVerified();

    /** CRC32C. */
    int checksum();

    /** A page of an object that has its own data file. */
    record InOwnFile(Extent extent, int page) implements StoredPage {
        @Override
        public long position() {
            return extent.object().geometry().start(page);
        }

        @Override
        public int length() {
            return extent.object().pageLength(page);
        }

        @Override
        public boolean isThere() {
            return extent.has(page);
        }

        @Override
        public boolean isVerified() {
            return extent.isVerified(page);
        }

        @Override
        public void setVerified() {
            extent.setVerified(page);
        }

        @Override
        public int checksum() {
            return extent.checksum(page);
        }
    }
}
