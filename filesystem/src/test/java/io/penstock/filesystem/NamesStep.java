package io.penstock.filesystem;

import io.penstock.core.Errno;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One step of {@link NamesModelTest}. */
sealed interface NamesStep {
    /** The number of files that can be open at a time. */
    int SLOTS = 2;

    // ---- calls of programs

    /** Creates or replaces a file, and closes it. */
    record Save(String path, int mode, Creator creator, boolean empty) implements NamesStep {}

    record Create(int slot, String path, int mode) implements NamesStep {}

    record Open(int slot, String path) implements NamesStep {}

    record Write(int slot, boolean append) implements NamesStep {}

    record Fsync(int slot) implements NamesStep {}

    record Close(int slot) implements NamesStep {}

    record Mkdir(String path, int mode, Creator creator) implements NamesStep {}

    record Symlink(String path, String target) implements NamesStep {}

    /** @param mode with the type */
    record Mknod(String path, int mode) implements NamesStep {}

    record Truncate(String path, int size) implements NamesStep {}

    /** Opens a file to read, and keeps it open. */
    record Read(int slot, String path) implements NamesStep {}

    record Link(String from, String to) implements NamesStep {}

    record Unlink(String path) implements NamesStep {}

    record Rmdir(String path) implements NamesStep {}

    record Rename(String from, String to, boolean mustBeNew) implements NamesStep {}

    record Chmod(String path, int mode) implements NamesStep {}

    record Fchmod(int slot, int mode) implements NamesStep {}

    record Chown(String path, Creator owner) implements NamesStep {}

    record Utimens(String path, Instant accessed, Instant modified) implements NamesStep {}

    /** @param value null to remove it */
    record SetExtended(String path, String name, @Nullable String value, int flags) implements NamesStep {}

    // ---- outside events

    /** Another node writes an object. */
    record Put(String path) implements NamesStep {}

    /** Another node creates a directory. */
    record PutDirectory(String path) implements NamesStep {}

    /** Another node deletes an object, or an empty directory. */
    record Delete(String path) implements NamesStep {}

    /** A second passes, or the cache expires. */
    record Wait(boolean forTtl) implements NamesStep {}

    record Remount() implements NamesStep {}

    record Crash() implements NamesStep {}

    /** A step in which a request to the store fails. */
    record Failing(NamesStep step, Failure failure) implements NamesStep {}

    /**
     * A request that fails.
     *
     * @param write whether it is a modifying one
     * @param after how many requests of its kind succeed first
     * @param lost whether the store executes it all the same
     */
    record Failure(boolean write, int after, boolean lost, Errno errno) {}
}
