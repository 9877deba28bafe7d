package io.penstock.prefetch;

import io.penstock.core.ObjectVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A directory whose files a test lists. Not thread-safe while it grows. */
final class FakeDirectory implements DirectoryFiles {
    private final List<@Nullable ObjectVersion> files = new ArrayList<>();
    private final boolean isWhole;

    FakeDirectory(List<ObjectVersion> files, boolean isWhole) {
        this.files.addAll(files);
        this.isWhole = isWhole;
    }

    void remove(int index) {
        files.set(index, null);
    }

    @Override
    public int indexOf(String key) {
        return IntStream.range(0, files.size())
                .filter(index -> {
                    ObjectVersion file = files.get(index);
                    return file != null && Objects.equals(file.key(), key);
                })
                .findFirst()
                .orElse(-1);
    }

    @Override
    public @Nullable ObjectVersion get(int index) {
        return files.get(index);
    }

    @Override
    public int size() {
        return files.size();
    }

    @Override
    public boolean isWhole() {
        return isWhole;
    }
}
