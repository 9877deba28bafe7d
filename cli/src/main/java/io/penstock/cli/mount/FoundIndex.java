package io.penstock.cli.mount;

import io.penstock.inventory.Index;
import io.penstock.metadata.ObjectIndex;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;

/** The file that a user has named as the bucket's index. */
record FoundIndex(Index index) implements ObjectIndex {
    /**
     * Finds it, and looks whether it is of this bucket. It is read later.
     *
     * @throws io.penstock.inventory.IndexException if it is of no use for this
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
