package io.penstock.writeback.survivors;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What written files need to outlive the process.
 *
 * @param left what the mount's former process has left in the memory; null if this is its first one
 * @param onLoss run once if the mount no longer survives its process
 */
public record Outliving(SurvivorMemory memory, @Nullable Survivors left, Runnable onLoss) {
    /** For a new mount. */
    public static Outliving begin(SurvivorMemory memory, Runnable onLoss) {
        return new Outliving(memory, null, onLoss);
    }

    /** In the memory of the mount's former process. */
    public static Outliving resume(SurvivorMemory memory, Runnable onLoss) throws IOException {
        return new Outliving(memory, Survivors.read(memory), onLoss);
    }
}
