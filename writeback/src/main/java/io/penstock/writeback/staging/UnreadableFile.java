package io.penstock.writeback.staging;

import org.jspecify.annotations.Nullable;

/**
 * A file of an earlier run in the staging folder that this version cannot read: it is damaged, or a later version wrote
 * it. It is kept under another name, and each mount tries to read it again.
 *
 * @param key of the object; null if even that cannot be read
 * @param reason why, as the second half of a sentence
 * @param journal the path of its journal
 * @param data the path of the file that holds the written data, at its offsets; null if there is none
 */
public record UnreadableFile(
        @Nullable String key,
        String reason,
        String journal,
        @Nullable String data) {}
