package io.penstock.writeback.staging;

import io.penstock.disk.DataFolder;
import io.penstock.disk.WorkingFolder;
import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A folder in which an earlier version staged. */
public final class EarlierStaging {
    private static final Logger log = LoggerFactory.getLogger(EarlierStaging.class);

    private EarlierStaging() {}

    /**
     * Moves its files to the present one. Where they are on two file systems nothing is moved, because it may be more
     * than the other takes: staging goes on in the earlier folder until a mount finds it empty.
     *
     * @param present of {@code folder}; closed if it is not used
     * @return the folder to be used
     */
    public static DataFolder takeOver(Path earlier, DataFolder present, Path folder) throws IOException {
        if (!StagingFolder.holdsFiles(earlier)) {
            return present;
        }
        DataFolder from;
        try {
            from = StagingFolder.open(earlier);
        } catch (WorkingFolder.ForeignException e) {
            log.debug("Nothing is taken over", e);
            return present;
        } catch (IOException e) {
            present.close();
            throw e;
        }
        try {
            List<String> names =
                    from.names(); // in their order a data file comes before its journal, which vouches for it
            for (String name : names) {
                Files.move(from.path(name), present.path(name), StandardCopyOption.ATOMIC_MOVE);
            }
            present.force();
            from.force();
            log.info("The files that waited in {} are in {} now: {}", earlier, folder, names.size());
            from.close();
            return present;
        } catch (AtomicMoveNotSupportedException e) {
            log.warn(
                    "Files wait in {}, on another file system than the staging folder {}: this mount stages there,"
                            + " and so do others until it is empty",
                    earlier,
                    folder);
            present.close();
            return from;
        } catch (IOException | RuntimeException e) {
            from.close();
            present.close();
            throw e;
        }
    }
}
