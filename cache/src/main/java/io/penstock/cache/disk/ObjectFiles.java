package io.penstock.cache.disk;

import io.penstock.disk.DataFolder;
import io.penstock.disk.DirectIo;
import io.penstock.disk.LocalFolder;
import io.penstock.disk.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The layout of a cache folder's data files. Their names are numbers of 16 hexadecimal digits, spread over 256 folders
 * by the first two digits.
 */
public final class ObjectFiles {
    /** The parent folder of these folders. */
    static final String ROOT = "objects";

    /** Matches a file, or a folder with its trailing slash. */
    private static final Pattern NAME = Pattern.compile("[0-9a-f]{2}/([0-9a-f]{16})?");

    private static final int DIGITS = 16;

    private ObjectFiles() {}

    public static String nameOf(long number) {
        String digits = HexFormat.of().toHexDigits(number);
        return digits.substring(0, 2) + "/" + digits;
    }

    static long numberOf(String name) {
        return HexFormat.fromHexDigitsToLong(name, name.length() - DIGITS, name.length());
    }

    /** The data files of a cache folder on the local file system. */
    public static DataFolder in(Path cacheFolder) throws IOException {
        Path root = cacheFolder.resolve(ROOT);
        if (Files.isSymbolicLink(root)) {
            throw new NotDirectoryException(root + " (a symbolic link)");
        }
        PrivateFiles.createFolders(root);
        return new LocalFolder(root, ObjectFiles::isName, DirectIo.isSupported(cacheFolder), null);
    }

    private static boolean isName(String name) {
        return NAME.matcher(name).matches();
    }
}
