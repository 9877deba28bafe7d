package io.penstock.cache.disk;

/** How the bytes of an object are divided into pages. */
public enum PageGeometry {
    /** The usual pages in which objects are cached. */
    PAGES(20),
    /** The same bytes in small pieces: random reads are fetched and kept without their surroundings. */
    SECTORS(16),
    /** A file whose pages hold small objects: see {@link Packs}. */
    PACKS(20);

    /** Bytes per page; an object's last page ends with the object. */
    public static final int PAGE_SIZE = PAGES.size();

    public static final int SECTOR_SIZE = SECTORS.size();

    private final int shift;

    PageGeometry(int shift) {
        this.shift = shift;
    }

    /** Whether an object of this size is stored in a pack. */
    public static boolean isSmall(long objectBytes) {
        return objectBytes < PAGE_SIZE;
    }

    /** Bytes per page; an object's last page ends with the object. */
    public int size() {
        return 1 << shift;
    }

    public long start(int page) {
        return (long) page << shift;
    }

    /** The page that contains the position. */
    public int pageAt(long position) {
        return (int) (position >> shift);
    }
}
