/** Access-pattern detection, readahead windows, and the fetcher that turns runs of Missing pages into range GETs. */
@NullMarked
package io.penstock.prefetch;

import org.jspecify.annotations.NullMarked;
