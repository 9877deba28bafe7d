package io.penstock.fuse;

/** A binding that this kernel is too old for; another may do. */
public final class UnsupportedKernelException extends MountException {
    private static final long serialVersionUID = 1L;

    public UnsupportedKernelException(String message) {
        super(message);
    }
}
