package io.penstock.serve.mount;

import io.penstock.inventory.Index;
import io.penstock.metadata.ObjectIndex;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;

/** The index file named by the user. */
record FoundIndex(Index index) implements ObjectIndex {
    /**
     * Opens the index and checks that it belongs to this bucket. It is read later.
     *
     * @throws io.penstock.inventory.IndexException if it cannot be used
     */
    static ObjectIndex open(Path file, Target target) throws IOException {
        return new FoundIndex(Index.open(file, target.bucket(), target.prefix()));
    }

    @Override
    public Instant asOf() {
        return index.asOf();
    }

    @Override
    public void read(Receiver receiver) throws IOException, InterruptedException {
        index.read(receiver::receive);
    }
}
