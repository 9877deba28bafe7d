package io.penstock.objectstore.s3;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class ServerAddressesTest {
    private static final InetAddress A = InetAddress.ofLiteral("192.0.2.1");
    private static final InetAddress B = InetAddress.ofLiteral("192.0.2.2");
    private static final InetAddress C = InetAddress.ofLiteral("192.0.2.3");
    private static final InetAddress A6 = InetAddress.ofLiteral("2001:db8::1");

    private final AtomicLong nanoTime = new AtomicLong();

    @Test
    void next_severalAddresses_startsAtAnotherEachTime() throws Exception {
        ServerAddresses addresses = of(A, B, C);
        assertThat(addresses.next()).containsExactly(A, B, C);
        assertThat(addresses.next()).containsExactly(B, C, A);
        assertThat(addresses.next()).containsExactly(C, A, B);
        assertThat(addresses.next()).containsExactly(A, B, C);
    }

    @Test
    void next_bothFamilies_triesTheOtherLast() throws Exception {
        ServerAddresses addresses = of(A, B, A6);
        assertThat(addresses.next()).containsExactly(A, B, A6);
        assertThat(addresses.next()).containsExactly(B, A, A6);
        addresses.failed(A);
        addresses.failed(B);
        assertThat(addresses.next()).containsExactly(A6);
    }

    @Test
    void next_afterAFailure_leavesTheAddressOutForAMinute() throws Exception {
        ServerAddresses addresses = of(A, B);
        addresses.failed(A);
        assertThat(addresses.next()).containsExactly(B);
        nanoTime.addAndGet(Duration.ofSeconds(59).toNanos());
        assertThat(addresses.next()).containsExactly(B);
        nanoTime.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(addresses.next()).containsExactlyInAnyOrder(A, B);
    }

    @Test
    void next_allHaveFailed_isOneAfterAnotherUntilOneAnswers() throws Exception {
        ServerAddresses addresses = of(A, B);
        addresses.failed(A);
        addresses.failed(B);
        assertThat(addresses.next()).containsExactly(A);
        assertThat(addresses.next()).containsExactly(B);
        addresses.succeeded(B);
        assertThat(addresses.next()).containsExactly(B);
    }

    @Test
    void next_nameThatMoves_isFollowed() throws Exception {
        InetAddress[] current = {A};
        ServerAddresses addresses = new ServerAddresses("server", _ -> current.clone(), nanoTime::get);
        assertThat(addresses.next()).containsExactly(A);
        current[0] = B;
        assertThat(addresses.next()).containsExactly(B);
    }

    private ServerAddresses of(InetAddress... resolved) {
        return new ServerAddresses("server", _ -> resolved, nanoTime::get);
    }
}
