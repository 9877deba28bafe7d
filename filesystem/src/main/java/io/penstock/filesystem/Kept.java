package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.objectstore.ObjectStoreException;

/** The answer to the question which attributes a node's object keeps. */
sealed interface Kept {
    /** It keeps these. */
    record Given(ObjectAttributes attributes) implements Kept {}

    /** The store has no object with this version's key any more: what is cached of the name is wrong. */
    record Gone(ObjectVersion version) implements Kept {}

    /** The store refuses to say it of this object: what is private must not show as if nothing were kept. */
    record Withheld(ObjectStoreException failure) implements Kept {}

    /** @throws ErrnoException ESTALE if the object is gone; EACCES, EIO if they are withheld */
    default ObjectAttributes orThrow() throws ErrnoException {
        return switch (this) {
            case Given(ObjectAttributes attributes) -> attributes;
            case Gone(ObjectVersion version) ->
                throw new ErrnoException(Errno.ESTALE, "there is no '" + version.key() + "' any more");
            case Withheld(ObjectStoreException failure) -> throw Errnos.of(failure);
        };
    }
}
