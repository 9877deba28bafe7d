package io.penstock.cli;

import io.penstock.writeback.RecoverableFile;
import io.penstock.writeback.staging.StrandedFile;
import io.penstock.writeback.staging.UnreadableFile;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A written file in the staging folder, as {@code penstock recover --json} shows it.
 *
 * @param state {@code kept} if it could not be uploaded, {@code pending} if the next mount uploads it,
 *     {@code unreadable}, or {@code stranded} if it belongs to another bucket or server
 * @param key null if unknown
 * @param bytes its size; null if unknown
 * @param modified null if unknown
 * @param reason why it waits
 * @param where its bytes are, or the bucket of a stranded one; null if unknown
 */
record PendingFileJson(
        String state,
        @Nullable String key,
        @Nullable Long bytes,
        @Nullable String modified,
        @Nullable String reason,
        @Nullable String where) {
    static List<PendingFileJson> of(
            List<RecoverableFile> kept,
            List<RecoverableFile> pending,
            List<UnreadableFile> unreadable,
            List<StrandedFile> stranded) {
        return Stream.of(
                        kept.stream().map(file -> of("kept", file)),
                        pending.stream().map(file -> of("pending", file)),
                        unreadable.stream()
                                .map(file -> new PendingFileJson(
                                        "unreadable", file.key(), null, null, file.reason(), file.data())),
                        stranded.stream()
                                .map(file -> new PendingFileJson(
                                        "stranded", file.key(), file.size(), null, null, file.namespace())))
                .flatMap(files -> files)
                .toList();
    }

    private static PendingFileJson of(String state, RecoverableFile file) {
        return new PendingFileJson(
                state, file.key(), file.size(), file.modified().toString(), file.reason(), file.where());
    }
}
