/** Resources that all share, and documents that the runner and the control plane read. */
import {
  type Attempt,
  type Document,
  everywhere,
  HANGING,
  OPEN,
  type Walls,
  walls,
} from './attempt.ts';

const exhausting = (
  name: string,
  program: string,
  held: Walls,
  isReached?: Attempt['isReached'],
  during?: string,
): Attempt => ({
  name,
  area: 'exhaustion',
  moment: 'plan',
  walls: held,
  program,
  ...(isReached && { isReached }),
  ...(during !== undefined && { during }),
});

const GROUP = walls('limits of the sandbox', OPEN, OPEN);

const exhaustion: readonly Attempt[] = [
  exhausting(
    'the process table of the machine (2,500 processes)',
    `perl -e 'my $n = 0; for (1..2500) { my $p = fork; last unless defined $p; if (!$p) { sleep 60; exit } $n++ } print "$n processes\\n"; print "REACHED\\n" if $n == 2500; kill KILL => -$$ if 0'`,
    GROUP,
  ),
  exhausting(
    'the memory of the machine (3 GiB)',
    `perl -e 'my @m; for (1..48) { push @m, "x" x (1 << 26) } print "REACHED\\n"'`,
    GROUP,
  ),
  exhausting(
    'the disk of the control plane',
    `dd if=/dev/zero of="$HOME/full" bs=1M count=4096; dd if=/dev/zero of="$TMPDIR/full" bs=1M count=4096; dd if=/dev/zero of=/tmp/full bs=1M count=4096; echo filled; sleep 20`,
    everywhere('end of the run that fills the disk'),
    // A run writes faster than its disk is measured: for a moment nobody stores anything, and then the run is ended.
    async (stage, { status }) => status !== 'errored' || !(await stage.storesAgain()),
  ),
  exhausting(
    'open files (10,000)',
    `ulimit -n $(ulimit -Hn); perl -e 'my @f; for (1..10000) { open my $f, "<", "/dev/null" or last; push @f, $f } print scalar(@f), "\\n"; print "REACHED\\n" if @f == 10000'`,
    GROUP,
  ),
  exhausting(
    'watches of files, of the user of the control plane (inotify)',
    `perl -e 'my $n = qx(uname -m) =~ /aarch64/ ? 26 : 294; my $i = 0; while ($i < 5000) { my $f = syscall $n, 0; last if $f < 0; $i++ } print "$i: $!\\n"; $| = 1; print "filled\\n"; sleep 8'`,
    walls('limits of the sandbox', 'user id', OPEN),
    (stage) => !stage.canWatch(),
    'filled',
  ),
];

const FLOOD_LIMIT = 'limit of the output';

const output = (
  name: string,
  program: string,
  isReached: NonNullable<Attempt['isReached']>,
  wall = FLOOD_LIMIT,
): Attempt => ({
  ...exhausting(name, program, everywhere(wall), isReached),
  area: 'what the runner reads',
});

/** Whether the control plane or the runner is worse off, which is looked at after every run. */
const unharmed: NonNullable<Attempt['isReached']> = async (stage) =>
  !stage.isAlive() || !(await stage.canWrite());

const outputs: readonly Attempt[] = [
  output(
    'the disk of the control plane, by its log',
    'yes "$(head -c 4000 /dev/zero | tr "\\\\0" x)" | head -c 60000000',
    (_, { log, status }) => status !== 'errored' || log.length > 40_000_000,
  ),
  output(
    'the terminal of whoever reads the log, by escape sequences',
    `printf '\\033]0;planted\\007\\033]52;c;cGxhbnRlZA==\\007\\033[2J\\033[c\\033P\\033\\\\\\r\\n'; printf '<script>planted()</script>\\n'`,
    async (stage, { runId }) => !(await stage.isPlainLog(runId)),
    'type of the answer',
  ),
  output(
    'the reader of the log, by bytes that are no text',
    `head -c 200000 /dev/urandom; printf '\\000\\377\\376\\355\\240\\200'`,
    unharmed,
    'decoding',
  ),
  output(
    'the reader of the log, by a line without an end',
    `head -c 20000000 /dev/zero | tr '\\000' a`,
    unharmed,
  ),
];

const nested = (open: string, close: string, count = 1_000_000): string =>
  `perl -e 'print "${open}" x ${count}, "1", "${close}" x ${count}'`;

const documents = (
  name: string,
  given: Partial<Record<Document, string>>,
  moment: 'plan' | 'apply' = 'plan',
): Attempt => ({
  name: `the process that reads ${name}`,
  area: 'what the runner reads',
  moment,
  walls: everywhere('limits of what is read'),
  program: 'true',
  documents: given,
  isReached: unharmed,
});

const readings: readonly Attempt[] = [
  documents('a plan of 300 MB', {
    plan: `printf '{"a":"'; head -c 300000000 /dev/zero | tr '\\000' a; printf '"}'`,
  }),
  documents('a plan nested a million times', {
    plan: `printf '{"planned_values":'; ${nested('[', ']')}; printf '}'`,
  }),
  documents('a plan with changes that are nested a million times', {
    plan: `printf '{"resource_changes":[{"address":"a.b","type":"b","change":{"actions":["create"],"before":null,"after":'; ${nested(String.raw`{\"a\":`, '}')}; printf ',"after_sensitive":'; ${nested(String.raw`{\"a\":`, '}')}; printf '}}]}'`,
  }),
  documents('a plan with names of the language', {
    plan: `printf '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"resource_changes":[{"__proto__":{"polluted":true},"change":{"actions":["create"],"after":{"__proto__":{"polluted":true}}}}],"output_changes":{"__proto__":{"actions":["create"]}}}'`,
  }),
  documents('a plan of other types', {
    plan: `printf '{"resource_changes":{"length":1e9},"output_changes":7}'`,
  }),
  documents('a plan that is no JSON', { plan: `printf '{"a": NaN'` }),
  documents('schemas nested a million times', {
    schema: nested(String.raw`{\"provider_schemas\":`, '}'),
  }),
  documents('schemas of 300 MB', { schema: `head -c 300000000 /dev/zero | tr '\\000' '['` }),
  documents('a version that is no version', {
    version: `printf '{"terraform_version":{"a":1},"platform":"\\033[2J"}'`,
  }),
  documents('a version of 300 MB', { version: `head -c 300000000 /dev/zero | tr '\\000' a` }),
  documents(
    'a state nested a million times',
    {
      state: `printf '{"version":4,"serial":1,"lineage":"planted","outputs":{},"resources":[],"a":'; ${nested('[', ']')}; printf '}'`,
    },
    'apply',
  ),
  documents(
    'a state whose outputs are nested a million times',
    {
      state: `printf '{"version":4,"serial":1,"lineage":"planted","outputs":{"a":{"value":'; ${nested('[', ']')}; printf ',"type":'; ${nested('[', ']')}; printf '}},"resources":[]}'`,
    },
    'apply',
  ),
  documents(
    'a state of 100 MB',
    {
      state: `printf '{"version":4,"serial":1,"lineage":"planted","outputs":{},"resources":[],"a":"'; head -c 100000000 /dev/zero | tr '\\000' a; printf '"}'`,
    },
    'apply',
  ),
  documents(
    'a state with 100,000 outputs',
    {
      state: `printf '{"version":4,"serial":1,"lineage":"planted","resources":[],"outputs":{"__proto__":{"value":1,"type":"number"}'; seq -f ',"o%%.0f":{"value":1,"type":"number"}' 100000; printf '}}'`,
    },
    'apply',
  ),
  documents(
    'a state with a serial number that is none',
    { state: `printf '{"version":4,"serial":1e400,"lineage":7,"outputs":[],"resources":{}}'` },
    'apply',
  ),
  {
    ...documents('a state that is a pipe', {}, 'apply'),
    program:
      'state="../states/$TFC_WORKSPACE_NAME/terraform.tfstate"; rm -f "$state"; mkfifo "$state"; ls -l "$state"',
    isReached: (_, { status }) => status === HANGING,
  },
];

export const exhaustionAttempts: readonly Attempt[] = [...exhaustion, ...outputs, ...readings];
