package dev.postrider.transport.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PublicAddressTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0",
                "0.255.255.255",
                "10.0.0.0",
                "10.255.255.255",
                "100.64.0.0",
                "100.127.255.255",
                "127.0.0.1",
                "127.255.255.255",
                "169.254.0.0",
                "169.254.169.254",
                "172.16.0.0",
                "172.31.255.255",
                "192.0.0.0",
                "192.0.0.255",
                "192.0.2.1",
                "192.88.99.1",
                "192.168.255.255",
                "198.18.0.0",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
                "::",
                "::1",
                "::7f00:1",
                "::808:808",
                "::ffff:127.0.0.1",
                "::ffff:10.0.0.1",
                "64:ff9b::a00:1",
                "64:ff9b::7f00:1",
                "64:ff9b:1::808:808",
                "100::1",
                "2001::1",
                "2001:1ff:ffff::1",
                "2001:db8::1",
                "2002:a00:1::1",
                "2002:c0a8:101::",
                "2002:7f00:1::1",
                "3fff::1",
                "3fff:fff::1",
                "4000::1",
                "5f00::1",
                "fc00::1",
                "fdff:ffff::1",
                "fe80::1",
                "febf::1",
                "fec0::1",
                "ff02::1"
            })
    void specialAddressesAreNotPublic(String address) throws Exception {
        assertThat(PublicAddress.is(InetAddress.getByName(address))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.0.0.0",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.1",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "191.255.255.255",
                "192.0.1.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "::ffff:8.8.8.8",
                "64:ff9b::808:808",
                "2001:200::1",
                "2001:4860:4860::8888",
                "2002:808:808::1",
                "2606:4700::1111",
                "3ffe::1",
                "3fff:1000::1"
            })
    void theirNeighboursArePublic(String address) throws Exception {
        assertThat(PublicAddress.is(InetAddress.getByName(address))).isTrue();
    }

    /** The JDK turns mapped addresses into IPv4 ones by itself, but not those made by hand. */
    @ParameterizedTest
    @ValueSource(ints = {127, 10})
    void mappedAddressesAreJudgedByWhatTheyCarry(int first) throws Exception {
        byte[] mapped = new byte[16];
        mapped[10] = mapped[11] = (byte) 0xff;
        mapped[12] = (byte) first;

        assertThat(PublicAddress.is(java.net.Inet6Address.getByAddress("x", mapped, 0)))
                .isFalse();
    }
}
