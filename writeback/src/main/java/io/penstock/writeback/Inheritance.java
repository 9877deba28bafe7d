package io.penstock.writeback;

import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Staged files that are taken over beside those that the staging folder has of the bucket itself.
 *
 * @param folder in which an earlier version staged; null if there is none
 * @param namespaces that are other names of the bucket
 */
public record Inheritance(@Nullable Path folder, Set<String> namespaces) {
    public static final Inheritance NONE = new Inheritance(null, Set.of());

    public Inheritance {
        namespaces = Set.copyOf(namespaces);
    }
}
