/** Functions for the programs of attempts, which have /bin/sh and Perl. */

/**
 * `try NAME NUMBER NUMBER-ON-ARM ARGUMENT…` calls the kernel, and says REACHED unless the call is not permitted.
 * Wrong arguments are refused after the permission is looked at, so that nothing happens where it is.
 */
const TRY = String.raw`
try() { perl -e '
my ($name, $other, $arm, @given) = @ARGV;
my @args = map { /\D/ && !/^(-?\d+|0x[0-9a-f]+)$/i ? eval : /^0x/ ? hex : int } @given;
my $got = syscall((qx(uname -m) =~ /aarch64/ ? $arm : $other), @args);
print "$name: ", ($got < 0 ? "$!" : $got), "\n";
# EPERM, ESRCH, EBADF of a process that is not there, EACCES, ENOSPC of a limit of namespaces, ENOSYS.
print "REACHED\n" unless $got < 0 && grep { $_ == $! + 0 } 1, 3, 9, 13, 28, 38;
' "$@"; }
`;

/** `greet HOST PORT WORDS` connects and sends the words, which the stage counts. */
const GREET = String.raw`
greet() { perl -MSocket=:all,getaddrinfo -e '
my ($host, $port, $words) = @ARGV;
my ($error, @found) = getaddrinfo($host, $port, { socktype => SOCK_STREAM });
die "$error\n" if $error;
for my $to (@found) {
  socket my $s, $to->{family}, SOCK_STREAM, 0 or next;
  $SIG{ALRM} = sub { die "no answer in time\n" };
  alarm 3;
  connect $s, $to->{addr} or do { print "$!\n"; next };
  alarm 0;
  syswrite $s, "$words\n";
  print "connected\n";
}' "$@"; }
`;

/** Both print the digest of each private key that they find: in files, in the memory of a process. */
const DIGESTS = String.raw`
digest_keys() { perl -MDigest::SHA=sha256_hex -e '
for my $file (@ARGV) {
  open my $h, "<", $file or next; local $/; my $text = <$h> // "";
  while ($text =~ /BEGIN OPENSSH PRIVATE KEY-----([^-]+)/g) { my $key = $1; $key =~ s/\\[rn]//g; $key =~ s/[^A-Za-z0-9+\/=]//g; print "digest ", sha256_hex($key), "\n" }
}' "$@"; }
digest_memory() { perl -MDigest::SHA=sha256_hex -e '
my $p = shift; my %seen;
open my $maps, "<", "/proc/$p/maps" or die "$!\n";
open my $memory, "<", "/proc/$p/mem" or die "$!\n";
while (<$maps>) {
  /^([0-9a-f]+)-([0-9a-f]+) rw/ or next; my ($from, $to) = (hex $1, hex $2); next if $to - $from > 1 << 28;
  sysseek $memory, $from, 0; my $text = ""; sysread $memory, $text, $to - $from;
  while ($text =~ /BEGIN OPENSSH PRIVATE KEY-----([^-]{50,1000})/g) { my $key = $1; $key =~ s/\\[rn]//g; $key =~ s/[^A-Za-z0-9+\/=]//g; my $d = sha256_hex($key); print "digest $d\n" unless $seen{$d}++ }
}' "$1"; }
ancestors() { p=$$; while [ "$p" -gt 1 ] 2>/dev/null; do p=$(awk '/^PPid/ { print $2 }' /proc/$p/status); [ "$p" -gt 0 ] && echo $p; done; }
`;

export const PRELUDE = `${TRY}${GREET}${DIGESTS}`;

/** Programs of the attempts: one that is missing would hold an attempt. */
const PROGRAMS =
  'perl curl git ssh-add find grep awk setsid timeout dmesg mount mknod unshare nsenter prlimit taskset ionice chrt renice';

/** Names each that is missing. */
export const MISSING = `for p in ${PROGRAMS}; do command -v $p > /dev/null || echo "@@ missing $p"; done`;
