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
    /** Reads what the mount's former process has left, if the memory is that process's. */
    public static Outliving in(SurvivorMemory memory, Runnable onLoss) throws IOException {
        return new Outliving(memory, memory.isInherited() ? Survivors.read(memory) : null, onLoss);
    }
}
