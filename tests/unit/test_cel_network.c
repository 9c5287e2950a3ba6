/* net.IP and net.CIDR: forms of RFC 4291, canonical text of RFC 5952. */
#include "utest.h"

#include "tests/unit/cel_table.h"

TABLE(cel_network, addresses, {"string", "[ip('192.168.0.1')]", "\"192.168.0.1\""},
      {"string", "[ip('2001:DB8:0:0:0:0:0:68')]", "\"2001:db8::68\""},
      {"string", "[ip('0:0:0:0:0:0:0:0')]", "\"::\""},
      {"string", "[ip('1:0:0:2:0:0:0:3')]", "\"1:0:0:2::3\""},
      {"string", "[ip('1:0:0:2:3:0:0:4')]", "\"1::2:3:0:0:4\""},
      {"string", "[ip('1:0:2:3:4:5:6:7')]", "\"1:0:2:3:4:5:6:7\""},
      {"string", "[ip('1::')]", "\"1::\""},
      {"string", "[ip('64:ff9b::1.2.3.4')]", "\"64:ff9b::102:304\""},
      {"isIP", "['1.2.3.4']", "true"}, {"isIP", "['1.2.3']", "false"},
      {"isIP", "['1.2.3.4.5']", "false"}, {"isIP", "['01.2.3.4']", "false"},
      {"isIP", "['256.2.3.4']", "false"}, {"isIP", "['1.2.3.']", "false"},
      {"isIP", "['']", "false"}, {"isIP", "[':']", "false"}, {"isIP", "[':::']", "false"},
      {"isIP", "['1:2:3:4:5:6:7']", "false"}, {"isIP", "['1:2:3:4:5:6:7:8:9']", "false"},
      {"isIP", "['1:2:3:4::5:6:7:8']", "false"}, {"isIP", "['1::2::3']", "false"},
      {"isIP", "['12345::']", "false"}, {"isIP", "['1:2:3:4:5:6:7:']", "false"},
      {"isIP", "['::1.2.3']", "false"}, {"isIP", "['1:2:3:4:5:6:7:1.2.3.4']", "false"},
      {"isIP", "['fe80::1%en0']", "false"}, {"isIP", "['::ffff:1.2.3.4']", "false"},
      {"isIP", "[1]", NULL}, {"ip", "['nonsense']", NULL},
      {"string", "[ip('::ffff:c0a8:1')]", "\"192.168.0.1\""},
      {"string", "[cidr('10.1.2.3/8').ip()]", "\"10.1.2.3\""})

TABLE(cel_network, predicates, {"family", "[ip('::1')]", "6"},
      {"ip.isCanonical", "['2001:db8::1']", "true"}, {"ip.isCanonical", "['2001:DB8::1']", "false"},
      {"ip.isCanonical", "['x']", NULL}, {"isLoopback", "[ip('127.1.2.3')]", "true"},
      {"isUnspecified", "[ip('::')]", "true"}, {"isGlobalUnicast", "[ip('10.0.0.1')]", "true"},
      {"isGlobalUnicast", "[ip('224.0.0.1')]", "false"},
      {"isLinkLocalUnicast", "[ip('fe80::1')]", "true"},
      {"isLinkLocalMulticast", "[ip('ff02::1')]", "true"},
      {"isLinkLocalMulticast", "[ip('224.0.0.9')]", "true"},
      {"isLinkLocalMulticast", "[ip('224.0.1.9')]", "false"},
      {"isLoopback", "[cidr('127.0.0.0/8')]", NULL})

TABLE(cel_network, prefixes, {"string", "[cidr('192.168.0.1/24')]", "\"192.168.0.1/24\""},
      {"string", "[cidr('192.168.3.129/25').masked()]", "\"192.168.3.128/25\""},
      {"string", "[cidr('2001:db8:ffff::/33').masked()]", "\"2001:db8:8000::/33\""},
      {"string", "[cidr('1.2.3.4/0').masked()]", "\"0.0.0.0/0\""},
      {"isMask", "[cidr('192.168.0.0/24')]", "true"},
      {"isMask", "[cidr('192.168.0.1/24')]", "false"}, {"prefixLength", "[cidr('::/128')]", "128"},
      {"isCIDR", "['1.2.3.4/32']", "true"}, {"isCIDR", "['1.2.3.4/33']", "false"},
      {"isCIDR", "['1.2.3.4/08']", "false"}, {"isCIDR", "['1.2.3.4/']", "false"},
      {"isCIDR", "['1.2.3.4/+8']", "false"}, {"isCIDR", "['1.2.3.4']", "false"},
      {"isCIDR", "['::/129']", "false"}, {"containsIP", "[cidr('10.0.0.0/8'), '10.1.2.3']", "true"},
      {"containsIP", "[cidr('10.0.0.0/8'), ip('11.1.2.3')]", "false"},
      {"containsIP", "[cidr('10.0.0.0/8'), ip('::1')]", "false"},
      {"containsIP", "[cidr('10.0.0.0/8'), 'x']", NULL},
      {"containsCIDR", "[cidr('10.0.0.0/8'), '10.1.0.0/16']", "true"},
      {"containsCIDR", "[cidr('10.1.0.0/16'), cidr('10.0.0.0/8')]", "false"},
      {"containsCIDR", "[cidr('10.0.0.0/8'), 1]", NULL})

UTEST_MAIN()
