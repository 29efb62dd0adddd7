/** Addresses that a run has no business with: those of the installation, of its machine and of its networks. */
import { type Attempt, everywhere, OPEN, type Walls, walls } from './attempt.ts';

const FILTER = walls('network namespace', OPEN, OPEN);

/** Ports of other services of an installation, on which the stage listens. */
export const SERVICE_PORTS = {
  PostgreSQL: 5432,
  Redis: 6379,
  NATS: 4222,
  etcd: 2379,
  Docker: 2375,
  'the kubelet': 10_250,
  'SSH of the machine': 22,
} as const;

/** Where the stage answers like the metadata service of a cloud. */
export const METADATA_PORT = 80;

/** Addresses of the stage by what they are in a real network. */
export const STAGE_ADDRESSES = {
  'the metadata service of a cloud': '169.254.169.254',
  'the metadata of containers': '169.254.170.2',
  'the metadata service of a cloud by IPv6': 'fd00:ec2::254',
  'the metadata service of Alibaba': '100.100.100.200',
  'the metadata service of Oracle by IPv6': 'fd00:c1::a9fe:a9fe',
  'link-local addresses of IPv4': '169.254.7.7',
  'a private network (10/8)': '10.77.0.1',
  'a private network (172.16/12)': '172.20.77.1',
  'a private network (192.168/16)': '192.168.77.1',
  'a network of a provider (100.64/10)': '100.77.0.1',
  'networks for benchmarks (198.18/15)': '198.18.0.77',
  'unique local addresses of IPv6': 'fd77::1',
} as const;

/** A name that resolves to loopback, one that does so for each address of the host itself. */
export const STAGE_NAMES = {
  'loopback.example': '127.0.0.1',
  'metadata.example': '169.254.169.254',
  'private.example': '10.77.0.1',
} as const;

/** Reached if the stage counts a connection that begins with the mark, so that no other attempt's is counted. */
const connecting = (name: string, host: string, port: number, held: Walls = FILTER): Attempt => ({
  name,
  area: 'network',
  moment: 'together',
  walls: held,
  program: `greet '${host}' ${port} '${name}'`,
  isReached: (stage) => stage.greetings(name) > 0,
});

const loopback = [
  '127.0.0.1',
  '127.9.9.9',
  '::1',
  '0.0.0.0',
  '::',
  '::ffff:127.0.0.1',
  'localhost',
].map((host) => connecting(`loopback of the machine as ${host}`, host, SERVICE_PORTS.Redis));

const services = Object.entries(SERVICE_PORTS).map(([name, port]) =>
  connecting(`${name} on loopback`, '127.0.0.1', port),
);

const addresses = Object.entries(STAGE_ADDRESSES).map(([name, address]) =>
  connecting(name, address, METADATA_PORT),
);

const names = Object.keys(STAGE_NAMES).map((name) =>
  connecting(`an inner address as the name ${name}`, name, METADATA_PORT),
);

const mapped = [
  ['::ffff:169.254.169.254', 'mapped into IPv6'],
  ['64:ff9b::a9fe:a9fe', 'translated from IPv6 (NAT64)'],
].map(([host = '', how]) =>
  connecting(
    `the metadata service of a cloud, ${how}`,
    host,
    METADATA_PORT,
    host.startsWith('64') ? everywhere('no translation here') : FILTER,
  ),
);

/** Connects from each address and at each interface that the run has, as a route may hold only some of them. */
const fromEverywhere = (name: string, host: string): Attempt => ({
  ...connecting(name, host, METADATA_PORT),
  program: String.raw`perl -MSocket=:all -e '
my ($host, $port, $words) = @ARGV;
my ($last, %own, @interfaces);
open my $routes, "<", "/proc/net/fib_trie";
while (<$routes>) { $last = $1 if /\|-- (\S+)/; $own{$last} = 1 if m{/32 host LOCAL} }
open my $devices, "<", "/proc/net/dev";
while (<$devices>) { push @interfaces, $1 if /^\s*(\S+):/ }
for my $interface ("", @interfaces) { for my $source ("0.0.0.0", sort keys %own) {
  socket my $s, PF_INET, SOCK_STREAM, 0 or next;
  !$interface or setsockopt $s, SOL_SOCKET, 25, "$interface\0" or next;
  setsockopt $s, SOL_SOCKET, SO_SNDTIMEO, pack("l!l!", 1, 0);
  bind $s, pack_sockaddr_in(0, inet_aton $source) or next;
  connect $s, pack_sockaddr_in($port, inet_aton $host) or next;
  syswrite $s, "$words\n";
  print "connected from $source $interface\n";
} }' ${host} ${METADATA_PORT} '${name}'`,
});

const others: readonly Attempt[] = [
  fromEverywhere(
    'link-local addresses of IPv4, from each of its own addresses',
    STAGE_ADDRESSES['link-local addresses of IPv4'],
  ),
  connecting('the machine by its own address', '203.0.113.2', SERVICE_PORTS.Redis),
  {
    ...connecting('the machine by the gateway of its network', '', 0),
    program: `for g in 10.0.2.2 10.0.2.3 10.0.2.1 $(awk '$2 == "00000000" { print $3 }' /proc/net/route | sed 's/\\(..\\)\\(..\\)\\(..\\)\\(..\\)/0x\\4.0x\\3.0x\\2.0x\\1/'); do
  greet "$g" ${SERVICE_PORTS.Redis} 'the machine by the gateway of its network'
done`,
    walls: walls('network namespace', 'no gateway', 'no gateway', 'no gateway'),
  },
  {
    ...connecting('every further port of the control plane on loopback', '', 0),
    program: `for p in $PORTS; do perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ARGV[0]", Timeout => 2) and print "REACHED $ARGV[0]\\n"' $p; done`,
    isReached: (_, { said }) => said.includes('REACHED'),
    walls: everywhere('two ports, which are for everybody'),
  },
  {
    ...connecting('a service on loopback by UDP', '', 0),
    program: `perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(Proto => "udp", PeerAddr => "127.0.0.1:8125") or die $!; $s->send("planted") or die "$!\\n"'`,
    isReached: (stage) => stage.datagrams() > 0,
  },
  {
    ...connecting('a port of the machine, to be reached by others', '', 0),
    program: `setsid perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(LocalAddr => "0.0.0.0:7999", Listen => 1, ReuseAddr => 1) or die $!; sleep 30' > /dev/null 2>&1 & for i in $(seq 100); do grep -q ":1F3F" /proc/net/tcp && break; sleep 0.1; done; sleep 1`,
    isReached: (stage) => stage.hasAccepted(7999),
  },
  {
    ...connecting('the connections of the machine', '', 0),
    program: `grep -q "$(printf ':%04X ' ${SERVICE_PORTS.Redis})" /proc/net/tcp && echo REACHED`,
    isReached: (_, { said }) => said.includes('REACHED'),
  },
];

export const networkAttempts: readonly Attempt[] = [
  ...loopback,
  ...services,
  ...addresses,
  ...mapped,
  ...names,
  ...others,
];
