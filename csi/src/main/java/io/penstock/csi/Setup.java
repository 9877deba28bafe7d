package io.penstock.csi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;

/**
 * How the driver was started.
 *
 * @param node its name in the cluster
 * @param state the folder of mounts and of what they need; empty after a reboot, or not
 * @param cache the folder of the mounts' caches
 * @param staging the folder of written data that is not uploaded yet
 * @param penstock the command that mounts
 * @param server the user who serves the mounts; empty for the driver's
 * @param inlineOfDriver whether volumes that pods describe may use the driver's credentials
 */
record Setup(
        String node,
        Path state,
        Path cache,
        Path staging,
        Path penstock,
        Optional<User> server,
        boolean inlineOfDriver) {
    /** A user without rights. */
    record User(int uid, int gid) {
        /** @param text {@code UID:GID} */
        static User parse(String text) {
            String[] numbers = text.split(":", -1);
            if (numbers.length != 2) {
                throw new NumberFormatException("expected UID:GID");
            }
            return new User(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
        }
    }

    /** Makes a folder that only the server, and root, can enter. */
    void makeFolder(Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        give(folder);
    }

    /** Makes the server the owner. */
    void give(Path path) throws IOException {
        if (server.isPresent()) {
            Files.setAttribute(path, "unix:gid", server.get().gid);
            Files.setAttribute(path, "unix:uid", server.get().uid);
        }
    }
}
