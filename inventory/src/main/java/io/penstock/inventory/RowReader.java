package io.penstock.inventory;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Reads the rows of a file, one after another. Used by one thread at a time. */
interface RowReader extends Closeable {
    /**
     * The next row; null at the end.
     *
     * @throws IndexException if it cannot be read
     */
    @Nullable
    InventoryRow next() throws IOException;
}
