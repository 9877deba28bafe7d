package io.penstock.objectstore;

import io.penstock.core.Printable;
import org.jspecify.annotations.Nullable;

/**
 * Detects a store that sends the pages of a listing again, which would never end. It keeps one earlier page and
 * compares the others with it (Brent's algorithm): a listing that repeats in a circle is detected after at most three
 * rounds, and one that makes no progress immediately. A correct store may send empty pages, pages that repeat a common
 * prefix, and unordered pages. One caller at a time.
 */
public final class PageProgress {
    private final String listing;
    private @Nullable String token;
    private @Nullable String key;
    private long pages;
    private long until = 1;

    /** @param listing for messages */
    public PageProgress(String listing) {
        this.listing = listing;
    }

    public static PageProgress of(ListRequest request) {
        return new PageProgress("listing of '" + Printable.text(request.prefix()) + "'");
    }

    /** @throws ObjectStoreException.Corrupt if this page came before */
    public void came(ListPage page) throws ObjectStoreException.Corrupt {
        came(
                page.nextToken(),
                page.objects().isEmpty()
                        ? null
                        : page.objects().getFirst().version().key());
    }

    /**
     * @param next the token or marker that continues the listing; null on the last page
     * @param first identifies the page, since no other page has it; null if nothing does
     * @throws ObjectStoreException.Corrupt if one of them came before
     */
    public void came(@Nullable String next, @Nullable String first) throws ObjectStoreException.Corrupt {
        if ((next != null && next.equals(token)) || (first != null && first.equals(key))) {
            throw new ObjectStoreException.Corrupt(
                    listing
                            + ": the store, or a proxy on the way to it, repeats a page of the listing, which would"
                            + " never end; check the proxies on the way to the store",
                    null);
        }
        if (next != null && ++pages == until) {
            token = next;
            key = first;
            until *= 2;
        }
    }
}
