package io.penstock.serve.mount;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** SIGHUP, which asks daemons to reload their configuration. */
public final class HangupSignal {
    private static final Logger log = LoggerFactory.getLogger(HangupSignal.class);

    private HangupSignal() {}

    /**
     * From now on the signal runs this on a JVM thread and no longer ends the process. If the process was started with
     * the signal ignored, the JVM leaves it ignored. The JDK has signals only in jdk.unsupported, and javac warns about
     * its classes, so they are loaded by name.
     */
    public static void runs(Runnable action) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            MethodHandle run = MethodHandles.publicLookup()
                    .findVirtual(Runnable.class, "run", MethodType.methodType(void.class))
                    .bindTo(action);
            Object calls =
                    MethodHandleProxies.asInterfaceInstance(handler, MethodHandles.dropArguments(run, 0, signal));
            Object hangup = signal.getConstructor(String.class).newInstance("HUP");
            Object former = signal.getMethod("handle", signal, handler).invoke(null, hangup, calls);
            if (handler.getField("SIG_IGN").get(null).equals(former)) {
                log.warn("SIGHUP is ignored, because this process was started with it ignored (for example by nohup);"
                        + " use penstock reload");
            }
        } catch (ReflectiveOperationException | IllegalArgumentException e) {
            log.warn("SIGHUP ends this process, because this JVM cannot handle it; use penstock reload", e);
        }
    }
}
