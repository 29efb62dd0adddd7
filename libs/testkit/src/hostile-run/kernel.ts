/** Interfaces of the kernel, and ways between processes that need no file. */
import { type Attempt, MACHINE, OPEN, type Walls, walls } from './attempt.ts';
import { type Stage } from './stage.ts';

const USER = 'user id';
const PRIVILEGED = walls('no capabilities', USER, USER, MACHINE);
const FILTERED = walls('seccomp', OPEN, OPEN);
const FILTERED_IN_SOME = walls('seccomp', MACHINE, MACHINE, MACHINE);
const MASKED = walls('read-only and masked kernel files', USER, USER, MACHINE);

const of = (name: string, program: string, held: Walls = PRIVILEGED): Attempt => ({
  name,
  area: 'interfaces of the kernel',
  moment: 'together',
  walls: held,
  program,
});

const kernel: readonly Attempt[] = [
  of('the memory of the machine', 'exec 3</dev/mem && echo REACHED', MASKED),
  of('the memory of the kernel', 'head -c 64 /proc/kcore | grep -aq ELF && echo REACHED', MASKED),
  of('ports of the hardware', 'exec 3</dev/port && echo REACHED', MASKED),
  of('ports of the hardware (iopl)', 'try iopl 172 -1 3'),
  of(
    'addresses in the kernel',
    `awk '$1 !~ /^0+$/ { found = 1; exit } END { exit !found }' /proc/kallsyms && echo REACHED`,
    MASKED,
  ),
  of(
    'messages of the kernel',
    'dmesg | head -c 100 | grep -q . && echo REACHED',
    walls('masked kernel files', MACHINE, MACHINE, MACHINE),
  ),
  of('messages to the kernel', '[ -w /dev/kmsg ] && echo REACHED', MASKED),
  of(
    'settings of the kernel',
    `for f in kernel/sysrq kernel/hostname vm/overcommit_memory net/ipv4/ip_forward fs/file-max; do [ -w /proc/sys/$f ] && ( exec 3>>/proc/sys/$f ) && echo REACHED $f; done; true`,
    MASKED,
  ),
  of('keys of the console (sysrq)', '( exec 3>/proc/sysrq-trigger ) && echo REACHED', MASKED),
  of(
    'settings of devices',
    `find /sys -xdev -maxdepth 5 -type f -writable 2>/dev/null | head -n 3 | grep . && echo REACHED`,
    MASKED,
  ),
  of(
    'variables of the firmware',
    'find /sys/firmware/efi/efivars -writable 2>/dev/null | grep -q . && echo REACHED',
    MASKED,
  ),
  of(
    'debugging files of the kernel',
    'ls /sys/kernel/debug/* /sys/kernel/tracing/* && echo REACHED',
    MASKED,
  ),
  of('programs in the kernel (bpf)', 'try bpf 321 280 0 0 0', FILTERED_IN_SOME),
  of(
    'counters of other processes (perf_event_open)',
    'try perf_event_open 298 241 0 -1 0 -1 0',
    FILTERED_IN_SOME,
  ),
  of('another kernel (kexec_load)', 'try kexec_load 246 104 0 0 0 0'),
  of('modules of the kernel (init_module)', 'try init_module 175 105 0 0 0'),
  of(
    'modules of the kernel (modprobe)',
    '/sbin/modprobe -n dummy && [ -w /proc/sys/kernel/modprobe ] && echo REACHED',
  ),
  of('page faults of the kernel (userfaultfd)', 'try userfaultfd 323 282 0', FILTERED_IN_SOME),
  of(
    'the asynchronous interface of the kernel (io_uring)',
    'try io_uring_setup 425 425 0 0',
    FILTERED_IN_SOME,
  ),
  of('the key store of the kernel (keyctl)', 'try keyctl 250 219 0 -4 1', FILTERED),
  of(
    'keys that outlive the phase (add_key)',
    'perl -e \'my ($t, $d, $p) = ("user", "planted", "x"); my $n = `uname -m` =~ /aarch64/ ? 217 : 248; syscall($n, $t, $d, $p, 1, -4) > 0 and print "REACHED\\n" or die $!\'',
    FILTERED,
  ),
  of('swapping', 'try swapon 167 224 0 0'),
  of('the accounting of processes', 'try acct 163 89 0'),
  of('file systems (fsopen)', 'try fsopen 430 430 0 0'),
  of('mounts (open_tree)', 'try open_tree 428 428 -100 0 1'),
  of('the root folder (pivot_root)', 'try pivot_root 155 41 0 0'),
  of('namespaces (clone3, unshare)', 'try unshare 272 97 0x10000000', FILTERED),
  of(
    'the compatibility of system calls (personality)',
    'try personality 135 92 0x0400000',
    FILTERED,
  ),
  of('the terminals of the machine (vhangup)', 'try vhangup 153 58'),
];

const SOCKETS = walls('mount namespace', OPEN, OPEN);
const touched =
  (name: string): NonNullable<Attempt['isReached']> =>
  (stage: Stage) =>
    stage.connections(name) > 0;

const connecting = (name: string, path: string, held: Walls): Attempt => ({
  name,
  area: 'sockets and shared memory',
  moment: 'together',
  walls: held,
  program: `perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer => "${path}") or die "$!\\n"'`,
  isReached: touched(path),
});

const OWNED = walls('mount namespace', USER, USER);

const between: readonly Attempt[] = [
  connecting('Redis by its socket', '/run/redis/redis.sock', SOCKETS),
  connecting('PostgreSQL by its socket', '/run/postgresql/.s.PGSQL.5432', SOCKETS),
  connecting('the message bus of the machine', '/run/dbus/system_bus_socket', SOCKETS),
  connecting('Docker by its socket', '/run/docker.sock', OWNED),
  connecting('containerd by its socket', '/run/containerd/containerd.sock', OWNED),
  connecting('systemd by its socket', '/run/systemd/private', OWNED),
  {
    name: 'a service by its abstract socket',
    area: 'sockets and shared memory',
    moment: 'together',
    walls: walls('network namespace', OPEN, OPEN),
    program: `perl -MSocket -e 'socket my $s, AF_UNIX, SOCK_STREAM, 0; connect $s, pack("S a*", AF_UNIX, "\\0hostile-canary") or die "$!\\n"'`,
    isReached: touched('abstract'),
  },
  {
    name: 'shared memory of System V',
    area: 'sockets and shared memory',
    moment: 'together',
    walls: walls('IPC namespace', OPEN, OPEN),
    program: `perl -e 'for my $id (0..64) { my $b; shmread $id, $b, 0, 64 and $b =~ /(canary-shared-[0-9a-f]+)/ and print "$1\\n" }'`,
    isReached: ({ secrets }, { said }) => said.includes(secrets.shared),
  },
  {
    name: 'message queues of System V',
    area: 'sockets and shared memory',
    moment: 'together',
    walls: walls('IPC namespace', OPEN, OPEN),
    program: `perl -e 'for my $id (0..64) { msgsnd $id, pack("l! a*", 1, "planted"), 04000 }'`,
    isReached: (stage) => stage.queued() > 0,
  },
  {
    name: 'shared memory of POSIX',
    area: 'sockets and shared memory',
    moment: 'together',
    walls: walls('mount namespace', OPEN, OPEN),
    program: 'cat /dev/shm/canary',
    isReached: ({ secrets }, { said }) => said.includes(secrets.posix),
  },
  {
    name: 'the machine that runs this virtual machine (vsock)',
    area: 'sockets and shared memory',
    moment: 'together',
    walls: FILTERED,
    program: `perl -e 'socket my $s, 40, 1, 0 or die "$!\\n"; print "REACHED\\n"'`,
  },
  {
    name: 'the addresses of the machine',
    area: 'sockets and shared memory',
    moment: 'together',
    walls: walls('network namespace', OPEN, OPEN),
    program: 'grep -q 203.0.113.2 /proc/net/fib_trie && echo REACHED',
  },
  {
    name: 'raw packets',
    area: 'sockets and shared memory',
    moment: 'together',
    walls: PRIVILEGED,
    program: `perl -e 'socket my $s, 2, 3, 1 or die "$!\\n"; print "REACHED\\n"'; perl -e 'socket my $s, 17, 3, 768 or die "$!\\n"; print "REACHED\\n"'`,
  },
  {
    name: 'the ciphers of the kernel (AF_ALG)',
    area: 'sockets and shared memory',
    moment: 'together',
    walls: FILTERED_IN_SOME,
    program: `perl -e 'socket my $s, 38, 5, 0 or die "$!\\n"; print "REACHED\\n"'`,
  },
];

export const kernelAttempts: readonly Attempt[] = [...kernel, ...between];
