package dev.postrider.transport.http;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;

/**
 * Checks whether an address belongs to the public Internet, by the IANA registries of special-purpose addresses. For
 * IPv6 only ranges that are known to be public are accepted. Addresses that contain an IPv4 address are checked by
 * the IPv4 address. Stateless, thread-safe.
 */
final class PublicAddress {

    private static final List<Block> SPECIAL_V4 = List.of(
            Block.of(8, 0), // this network
            Block.of(8, 10), // private
            Block.of(10, 100, 64), // shared by carriers (CGNAT)
            Block.of(8, 127), // loopback
            Block.of(16, 169, 254), // link-local, cloud metadata
            Block.of(12, 172, 16), // private
            Block.of(24, 192, 0, 0), // protocol assignments
            Block.of(24, 192, 0, 2), // documentation
            Block.of(24, 192, 88, 99), // 6to4 relays
            Block.of(16, 192, 168), // private
            Block.of(15, 198, 18), // benchmarks
            Block.of(24, 198, 51, 100), // documentation
            Block.of(24, 203, 0, 113), // documentation
            Block.of(4, 224), // multicast
            Block.of(4, 240)); // reserved, broadcast

    private static final Block GLOBAL_UNICAST_V6 = Block.of(3, 0x20);
    private static final Block IPV4_MAPPED = Block.of(96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff);
    private static final Block NAT64 = Block.of(96, 0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0);
    private static final Block SIX_TO_FOUR = Block.of(16, 0x20, 0x02);

    private static final List<Block> SPECIAL_V6 = List.of(
            Block.of(23, 0x20, 0x01, 0x00), // protocol assignments, Teredo, ORCHID
            Block.of(32, 0x20, 0x01, 0x0d, 0xb8), // documentation
            Block.of(20, 0x3f, 0xff, 0x00)); // documentation

    private PublicAddress() {}

    static boolean is(InetAddress address) {
        byte[] bytes = address.getAddress();
        return address instanceof Inet4Address ? isPublicV4(bytes) : isPublicV6(bytes);
    }

    private static boolean isPublicV4(byte[] address) {
        return SPECIAL_V4.stream().noneMatch(block -> block.holds(address));
    }

    private static boolean isPublicV6(byte[] address) {
        if (IPV4_MAPPED.holds(address) || NAT64.holds(address)) {
            return isPublicV4(Arrays.copyOfRange(address, 12, 16));
        }
        if (SIX_TO_FOUR.holds(address)) {
            return isPublicV4(Arrays.copyOfRange(address, 2, 6));
        }
        return GLOBAL_UNICAST_V6.holds(address) && SPECIAL_V6.stream().noneMatch(block -> block.holds(address));
    }

    /** A CIDR block. Bytes of an address after the given prefix are ignored. */
    private static final class Block {

        private final int bits;
        private final int[] prefix;

        private Block(int bits, int[] prefix) {
            this.bits = bits;
            this.prefix = prefix;
        }

        static Block of(int bits, int... prefix) {
            return new Block(bits, prefix);
        }

        boolean holds(byte[] address) {
            for (int i = 0; i * 8 < bits; i++) {
                int mask = 0xff00 >> Math.min(8, bits - i * 8) & 0xff;
                if ((address[i] & mask) != (prefix[i] & mask)) {
                    return false;
                }
            }
            return true;
        }
    }
}
