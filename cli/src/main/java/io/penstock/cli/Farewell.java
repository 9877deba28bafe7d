package io.penstock.cli;

/** Lines printed if Ctrl-C ends this process before this is closed. */
final class Farewell implements AutoCloseable {
    private final Thread hook;

    Farewell(Runnable say) {
        hook = new Thread(say);
        Runtime.getRuntime().addShutdownHook(hook);
    }

    @Override
    public void close() {
        try {
            boolean _ = Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The process is ending: it says it.
        }
    }
}
