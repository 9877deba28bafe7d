package io.penstock.fuse;

/** This kernel is too old for the binding; another one may work. */
public final class UnsupportedKernelException extends MountException {
    private static final long serialVersionUID = 1L;

    public UnsupportedKernelException(String message) {
        super(message);
    }
}
