/** Other processes of the machine, what a run leaves running, and the privileges with which it could reach more. */
import { readFileSync } from 'node:fs';
import { ABSENT, type Attempt, MACHINE, OPEN, type Walls, walls } from './attempt.ts';
import { contentIn, processesWith, type Stage } from './stage.ts';

const SANDBOX = 'process namespace';
const USER = 'user id';
const OWN = walls(SANDBOX, USER, OPEN);
const AS_SET = walls('no capabilities', USER, USER, MACHINE);
const NO_PRIVILEGES = 'no new privileges';

const of = (name: string, program: string, held: Walls = OWN): Attempt => ({
  name,
  area: 'other processes',
  moment: 'together',
  walls: held,
  program,
});

const looking: readonly Attempt[] = [
  {
    ...of(
      'the environment of other processes',
      `grep -aoh 'canary-environment-[0-9a-f]*' /proc/[0-9]*/environ && echo REACHED`,
    ),
    isReached: ({ secrets }, { said }) => said.includes(secrets.environment),
  },
  {
    ...of(
      'the variables of a run of another organization',
      `grep -aoh 'canary-variable-[0-9a-f]*' /proc/[0-9]*/environ && echo REACHED`,
      walls(SANDBOX, USER, ABSENT, ABSENT),
    ),
    isReached: ({ secrets }, { said }) => said.includes(secrets.variable),
  },
  {
    ...of(
      'the command lines of other processes',
      `cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -ao 'canary-argument-[0-9a-f]*' && echo REACHED`,
      walls(SANDBOX, OPEN, OPEN),
    ),
    isReached: ({ secrets }, { said }) => said.includes(secrets.argument),
  },
  of(
    'the memory of the control plane',
    `perl -e 'my $p = $ENV{CONTROL}; open my $m, "<", "/proc/$p/maps" or die $!; my ($a) = (join "", <$m>) =~ /^([0-9a-f]+)-\\S+ rw/m;
open my $f, "<", "/proc/$p/mem" or die $!; seek $f, hex $a, 0; print "REACHED\\n" if sysread $f, my $b, 64'`,
  ),
  of('the memory map of the control plane', 'head -c 1 /proc/$CONTROL/maps && echo REACHED'),
  of('the working folder of the control plane', 'readlink /proc/$CONTROL/cwd && echo REACHED'),
  of('the open files of the control plane', 'ls /proc/$CONTROL/fd/ && echo REACHED'),
  of(
    'an open file of the control plane, opened again',
    'for f in /proc/$CONTROL/fd/*; do case "$(readlink $f)" in *.sqlite*) head -c 16 $f | grep -a SQLite && echo REACHED;; esac; done',
  ),
  of('the program of the control plane', 'readlink /proc/$CONTROL/exe && echo REACHED'),
  of(
    'that other processes exist',
    `cat /proc/[0-9]*/comm | grep -c . ; ls -d /proc/$CONTROL && echo REACHED`,
    walls(SANDBOX, OPEN, OPEN),
  ),
  of(
    'the descriptors of the control plane (pidfd_getfd)',
    `try pidfd_getfd 438 438 'syscall(434, $ENV{CONTROL} + 0, 0)' 1 0`,
  ),
  of(
    'the control plane as a debugger (PTRACE_ATTACH)',
    `perl -e 'my $n = qx(uname -m) =~ /aarch64/ ? 117 : 101; my $p = $ENV{CONTROL} + 0; syscall($n, 16, $p, 0, 0) == 0 or die "$!\\n";
waitpid $p, 0x40000000; syscall $n, 17, $p, 0, 0; print "REACHED\\n"'`,
  ),
  of('the control plane as a debugger (PTRACE_SEIZE)', 'try ptrace 101 117 0x4206 $CONTROL 0 0'),
  of(
    'the memory of the control plane (process_vm_readv)',
    `perl -e 'my $b = "x" x 64; my $l = pack "Q2", unpack("Q", pack "P", $b), 64; my $r = pack "Q2", 0x400000, 64;
my $n = syscall(qx(uname -m) =~ /aarch64/ ? 270 : 310, $ENV{CONTROL} + 0, $l, 1, $r, 1, 0); print "$n $!\\n"; print "REACHED\\n" if $n > 0 || $! == 14'`,
  ),
];

const signals = (['TERM', 'STOP', 'USR2', 'KILL'] as const).map(
  (signal): Attempt => ({
    ...of(
      `other processes with SIG${signal}`,
      `kill -${signal} $(cat "$STAGE/public/pid-${signal}")
for p in /proc/[0-9]*; do grep -aq "canary-signal-${signal}" $p/cmdline && kill -${signal} \${p#/proc/}; done`,
    ),
    isReached: ({ canaries }) => canaries[signal]?.isTouched() ?? true,
  }),
);

const changing = (
  name: string,
  program: string,
  isChanged: (stage: Stage) => boolean,
  held: Walls = OWN,
): Attempt => ({ ...of(name, program, held), isReached: isChanged });

const others: readonly Attempt[] = [
  ...signals,
  {
    ...of(
      'all other processes of its user (kill -9 -1)',
      `kill -9 -1; perl -e 'kill KILL => -1'; sleep 5`,
    ),
    moment: 'plan',
    isReached: ({ isAlive }) => !isAlive(),
  },
  changing('the priority of other processes', 'renice -n 15 -p $OTHER', ({ other }) =>
    /^\S+ \(.*\) (?:\S+ ){15}\S+ 15 /.test(readFileSync(`/proc/${other}/stat`, 'utf8')),
  ),
  changing(
    'the limits of other processes (prlimit)',
    'prlimit --pid $OTHER --nofile=17:17',
    ({ other }) => /open files\s+17/.test(readFileSync(`/proc/${other}/limits`, 'utf8')),
  ),
  changing(
    'the processors of other processes (affinity)',
    'taskset -p 1 $OTHER && taskset -p $OTHER',
    ({ other }) => /Cpus_allowed:\s+0*1$/m.test(readFileSync(`/proc/${other}/status`, 'utf8')),
  ),
  of(
    'the order of disk accesses of other processes (ioprio)',
    'ionice -c 3 -p $OTHER && echo REACHED',
  ),
  changing(
    'which process the kernel ends first (oom_score_adj)',
    'echo 999 > /proc/$OTHER/oom_score_adj',
    ({ other }) => contentIn(`/proc/${other}/oom_score_adj`).trim() === '999',
  ),
  of(
    'to be spared when memory is short (oom_score_adj)',
    'echo -900 > /proc/self/oom_score_adj && echo REACHED',
    AS_SET,
  ),
  of(
    'a higher priority than others',
    'renice -n -10 -p $$ && echo REACHED',
    walls('no capabilities', USER, USER),
  ),
  of(
    'the processor alone (real time)',
    'chrt -f 1 true && echo REACHED',
    walls('no capabilities', USER, USER),
  ),
  {
    ...of(
      'the debugger of the control plane (SIGUSR1)',
      'kill -USR1 $CONTROL; sleep 1; perl -MIO::Socket::INET -e \'IO::Socket::INET->new(PeerAddr => "127.0.0.1:9229", Timeout => 1) and print "REACHED\\n"\'',
      walls('--disable-sigusr1', '--disable-sigusr1', '--disable-sigusr1', '--disable-sigusr1'),
    ),
    moment: 'plan',
    isReached: (stage, { said }) => said.includes('REACHED') || !stage.isAlive(),
  },
  of(
    'the input of a terminal (TIOCSTI)',
    `perl -e 'open my $t, "+<", "/dev/tty" or die "no terminal: $!\\n"; for (split //, "id\\n") { ioctl $t, 0x5412, $_ or die $! } print "REACHED\\n"'
for t in /dev/pts/[0-9]* /dev/tty[0-9]* /dev/console; do [ -w $t ] && echo REACHED $t; done; true`,
    walls(SANDBOX, USER, USER),
  ),
];

const outliving = (name: string, program: string, mark: string, held: Walls): Attempt => ({
  ...of(name, program, held),
  isReached: () => processesWith(mark).length > 0,
});

const OUTLIVED = walls(SANDBOX, 'end of all processes of the user', OPEN);

const staying: readonly Attempt[] = [
  outliving(
    'the time after its phase, by a session of its own',
    'setsid sleep 70001 > /dev/null 2>&1 < /dev/null &',
    '70001',
    OUTLIVED,
  ),
  outliving(
    'the time after its phase, by a process that ignores signals and has closed everything',
    `perl -e 'use POSIX; fork and exit; POSIX::setsid(); fork and exit; $SIG{$_} = "IGNORE" for qw(HUP INT TERM QUIT USR1); POSIX::close($_) for 0..255; exec "sleep", "70002"'`,
    '70002',
    OUTLIVED,
  ),
  outliving(
    'the time after its phase, by a process without its first thread or name',
    `perl -e 'fork and exit; $0 = ""; setpgrp; open STDOUT, ">/dev/null"; open STDERR, ">/dev/null"; exec { "/bin/sleep" } "", "70003"'`,
    '70003',
    OUTLIVED,
  ),
  {
    ...outliving(
      'the time after its phase, by a process that ends all others first',
      `setsid sh -c 'while :; do kill -9 -1; done # 70004' > /dev/null 2>&1 & wait`,
      '70004',
      OUTLIVED,
    ),
    moment: 'plan',
    isReached: ({ isAlive }) => !isAlive() || processesWith('70004').length > 0,
  },
];

const NO_CAPABILITIES = walls('no capabilities', USER, USER);
const privileged = (name: string, program: string, held: Walls = NO_CAPABILITIES): Attempt => ({
  ...of(name, program, held),
  area: 'privileges',
});

const privileges: readonly Attempt[] = [
  privileged('root by sudo', 'sudo -n sha256sum /etc/shadow && echo REACHED', AS_SET),
  privileged('root by su', 'echo | su root -c "sha256sum /etc/shadow" && echo REACHED'),
  privileged(
    'root by the user id',
    `perl -e '$> = 0; $< = 0; open my $f, "<", "/etc/shadow" or die $!; print "REACHED\\n"'`,
  ),
  privileged(
    'more privileges by setuid programs',
    'grep "NoNewPrivs:.0" /proc/self/status && echo REACHED',
    walls(NO_PRIVILEGES, OPEN, OPEN),
  ),
  privileged('capabilities', '! grep "CapEff:.0000000000000000" /proc/self/status && echo REACHED'),
  privileged(
    'capabilities that a program could pass on',
    '! grep "CapBnd:.0000000000000000" /proc/self/status && echo REACHED',
    walls('no capabilities', OPEN, OPEN),
  ),
  privileged(
    'a mount',
    'mkdir "$HOME/m" && mount -t tmpfs none "$HOME/m" && umount "$HOME/m" && echo REACHED',
  ),
  privileged(
    'a user namespace of its own',
    'unshare --user --map-root-user true && echo REACHED',
    walls('seccomp', OPEN, OPEN),
  ),
  privileged(
    'a mount in namespaces of its own',
    'unshare --user --map-root-user --mount mount -t tmpfs none /mnt && echo REACHED',
    walls('seccomp', OPEN, OPEN),
  ),
  privileged(
    'a network namespace of its own',
    'unshare --user --map-root-user --net true && echo REACHED',
    walls('seccomp', OPEN, OPEN),
  ),
  privileged(
    'the namespaces of the control plane',
    'nsenter -t $CONTROL -m -n -p true && echo REACHED',
    {
      ...walls(SANDBOX, USER, USER),
    },
  ),
  privileged('another root folder', `perl -e 'chroot "/" or die $!; print "REACHED\\n"'`),
  privileged('devices', 'mknod "$HOME/disk" b 254 0 && rm "$HOME/disk" && echo REACHED'),
  privileged(
    'files of other owners',
    'touch "$HOME/given" && chown 12345 "$HOME/given" && echo REACHED',
  ),
  privileged('the name of the machine', 'hostname planted; true'),
  {
    ...privileged('its control group', ''),
    program: `for f in $(find /sys/fs/cgroup -maxdepth 3 -writable -type d); do mkdir $f/planted && rmdir $f/planted && echo REACHED $f; done
for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do [ -w $f ] && echo REACHED $f; done; true`,
  },
  privileged(
    'a program that the kernel starts (release_agent, core_pattern, modprobe)',
    `for f in /sys/fs/cgroup/*/release_agent /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /sys/kernel/uevent_helper; do [ -w $f ] && echo REACHED $f; done; true`,
  ),
].map((attempt) =>
  attempt.name === 'the name of the machine'
    ? { ...attempt, isReached: () => contentIn('/proc/sys/kernel/hostname').includes('planted') }
    : attempt,
);

export const processAttempts: readonly Attempt[] = [
  ...looking,
  ...others,
  ...staying,
  ...privileges,
];
