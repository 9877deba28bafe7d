package io.penstock.share;

import io.penstock.objectstore.TlsEngine;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;

/**
 * PEM files for connections between nodes.
 *
 * @param authority certificates that sign the certificates of nodes: one signed by them is a member of the group
 * @param certificate of this node, followed by those between it and the authority
 * @param key private key of this node, PKCS #8 without a password
 * @param engine what encrypts the bytes of objects; the membership is encrypted by the JDK
 */
public record TlsFiles(Path authority, Path certificate, Path key, TlsEngine engine) {
    /**
     * Checks them as {@link ShareGroup#start} would.
     *
     * @throws ShareException if they cannot be used; the message names the setting and the file
     */
    public void check() throws ShareException {
        SSLContext _ = GroupTls.context(this, engine);
    }
}
