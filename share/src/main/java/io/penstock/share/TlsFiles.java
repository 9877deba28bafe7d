package io.penstock.share;

import java.nio.file.Path;
import javax.net.ssl.SSLContext;

/**
 * PEM files for connections between nodes.
 *
 * @param authority certificates that sign the certificates of nodes: one signed by them is a member of the group
 * @param certificate of this node, followed by those between it and the authority
 * @param key private key of this node, PKCS #8 without a password
 */
public record TlsFiles(Path authority, Path certificate, Path key) {
    /**
     * Checks them as {@link ShareGroup#start} would.
     *
     * @throws ShareException if they cannot be used; the message names the setting and the file
     */
    public void check() throws ShareException {
        SSLContext _ = GroupTls.context(this);
    }
}
