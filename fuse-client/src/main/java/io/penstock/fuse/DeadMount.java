package io.penstock.fuse;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** What a killed process leaves: a mount that answers every call with "Transport endpoint is not connected". */
public final class DeadMount {
    private static final String TYPE = "fuse.penstock";

    private DeadMount() {}

    /** Whether nobody is left to answer what is mounted at this point. */
    public static boolean isAt(Path mountPoint) {
        return Preflight.isDead(mountPoint);
    }

    /**
     * Takes the dead mount at this point away if there is one and it is Penstock's.
     *
     * @return what was found and done, for the user
     */
    public static Optional<String> takeAway(Path given) throws MountException {
        Path mountPoint = given.toAbsolutePath().normalize();
        Optional<MountTable.Entry> found;
        try {
            found = MountTable.read().at(mountPoint);
        } catch (IOException e) {
            return Optional.empty(); // Preflight tells.
        }
        if (found.isEmpty() || !found.get().type().equals(TYPE) || !Preflight.isDead(mountPoint)) {
            return Optional.empty();
        }
        Unmount.detach(mountPoint);
        return Optional.of("At " + mountPoint + " stood the dead mount of a Penstock process that has ended ("
                + found.get().source() + "); it was taken away.");
    }
}
