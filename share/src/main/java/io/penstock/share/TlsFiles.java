package io.penstock.share;

import io.penstock.objectstore.http.TlsEngine;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;

/**
 * PEM files for connections between nodes.
 *
 * @param authority certificates that sign the nodes' certificates: a node signed by them is a member of the group
 * @param certificate that of this node, followed by those between it and the authority
 * @param key private key of this node, PKCS #8 without a password
 * @param engine encrypts the bytes of objects; the JDK encrypts the membership
 */
public record TlsFiles(Path authority, Path certificate, Path key, TlsEngine engine) {
    /**
     * Checks the files like {@link ShareGroup#start}.
     *
     * @throws ShareException if they cannot be used; the message names the setting and the file
     */
    public void check() throws ShareException {
        SSLContext _ = GroupTls.context(this, engine);
    }
}
