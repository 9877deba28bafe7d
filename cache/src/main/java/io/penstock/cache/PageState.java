package io.penstock.cache;

/**
 * Where a page is.
 *
 * <pre>
 *              claim                    last byte arrived
 *   MISSING ──────────▶ INFLIGHT ───────────────────────────▶ READY
 *      ▲                   │ fill failed or cancelled           │ evicted, invalidated, checksum did not match
 *      └───────────────────┴────────────────────────────────────┘
 * </pre>
 */
public enum PageState {
    /** Not in the cache and not being fetched. */
    MISSING,
    /** Claimed by exactly one {@link Fill}. */
    INFLIGHT,
    /** All its bytes are here: in memory, on NVMe, or both. */
    READY
}
