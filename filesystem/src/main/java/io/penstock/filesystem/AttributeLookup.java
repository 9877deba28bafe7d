package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.objectstore.ObjectStoreException;

/** The result of a lookup of a node's kept attributes. */
sealed interface AttributeLookup {
    /** The object keeps these. */
    record Found(ObjectAttributes attributes) implements AttributeLookup {}

    /** The store no longer has an object with this version's key: the cached answers about the name are wrong. */
    record Gone(ObjectVersion version) implements AttributeLookup {}

    /** The store denies access to this object's attributes: a private file must not be shown as if it kept none. */
    record Denied(ObjectStoreException failure) implements AttributeLookup {}

    /** @throws ErrnoException ESTALE if the object is gone; EACCES, EIO if access to them is denied */
    default ObjectAttributes orThrow() throws ErrnoException {
        return switch (this) {
            case Found(ObjectAttributes attributes) -> attributes;
            case Gone(ObjectVersion version) ->
                throw new ErrnoException(Errno.ESTALE, "'" + version.key() + "' no longer exists");
            case Denied(ObjectStoreException failure) -> throw Errnos.of(failure);
        };
    }
}
