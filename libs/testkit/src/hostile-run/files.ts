/** Files of the installation, of its people and of other runs, and what a run leaves behind. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ABSENT, type Attempt, everywhere, OPEN, walls } from './attempt.ts';
import { contentIn, pathsBelow, type Stage } from './stage.ts';

const SANDBOX = 'mount namespace';
const USER = 'user id';
const EMPTIED = 'removal of the folder';

const read = (name: string, path: string, held: Attempt['walls']): Attempt => ({
  name,
  area: 'files of the installation',
  moment: 'together',
  walls: held,
  program: `sha256sum ${path} && echo REACHED`,
});

const OWN = walls(SANDBOX, USER, OPEN);

const reading: readonly Attempt[] = [
  read('the seal key', '"$DATA/unseal.key"', OWN),
  read('the tokens of the first start', '"$DATA/first-run.json"', OWN),
  read('the databases', '"$DATA"/*.sqlite*', OWN),
  read('the log of the control plane', '"$DATA/keelson.log"', OWN),
  read('the keys in the home folder of the operator', '"$OPERATOR/.ssh/id_ed25519"', OWN),
  read('the home folder of root', '/root/canary', walls(SANDBOX, USER, USER)),
  read('passwords of the machine', '/etc/shadow', walls(SANDBOX, USER, USER)),
  read(
    'files that everybody on the machine can read',
    '"$STAGE/public/canary"',
    walls(SANDBOX, OPEN, OPEN),
  ),
  read('configuration of the operator in /etc', '/etc/keelson/canary', walls(SANDBOX, OPEN, OPEN)),
  {
    ...read('the seal key through a path of the kernel', '', OWN),
    program: `for p in /proc/1 /proc/$CONTROL /proc/self/task/../.. ; do
  sha256sum "$p/root$DATA/unseal.key" && echo REACHED
done
sha256sum "/proc/self/root$DATA/unseal.key" && echo REACHED`,
  },
  {
    ...read('the disk below the file systems', '', walls(SANDBOX, USER, USER)),
    program: `for d in /dev/vda /dev/sda /dev/nvme0n1 /dev/xvda /dev/ram0 /dev/loop0 /dev/loop-control; do
  [ -e $d ] && dd if=$d of=/dev/null bs=1 count=1 && echo REACHED
done`,
  },
  {
    ...read('the files of a run of another organization', '', walls(SANDBOX, USER, ABSENT, ABSENT)),
    program: `grep -raoh 'canary-file-[0-9a-f]*' "$RUNNER" && echo REACHED`,
    isReached: ({ secrets }, { said }) => said.includes(secrets.file),
  },
  {
    ...read('the names of the files of other runs', '', walls(SANDBOX, USER, ABSENT, ABSENT)),
    program: `find "$RUNNER" -path '*victim-*' | grep victim && echo REACHED`,
  },
];

const write = (
  name: string,
  program: string,
  held: Attempt['walls'],
  isReached?: Attempt['isReached'],
): Attempt => ({
  name,
  area: 'files of the installation',
  moment: 'together',
  walls: held,
  program,
  ...(isReached && { isReached }),
});

const planted =
  (path: (stage: Stage) => string): NonNullable<Attempt['isReached']> =>
  (stage) =>
    existsSync(path(stage));

const writing: readonly Attempt[] = [
  write(
    'a new file in the data folder',
    'touch "$DATA/planted"',
    OWN,
    planted(({ data }) => join(data, 'planted')),
  ),
  write('the code of the control plane, for writing', 'exec 3>>"$MAIN" && echo REACHED', {
    ...walls(SANDBOX, USER, USER),
  }),
  write(
    'a program in the folder of the tool',
    'touch "$TOOLS/planted"',
    OWN,
    planted(({ tools }) => join(tools, 'planted')),
  ),
  write(
    'compiled code of the control plane in its cache',
    'touch "$CACHE/planted"',
    OWN,
    planted(({ cache }) => join(cache, 'planted')),
  ),
  write(
    'the settings of shells and git of the operator',
    'for f in .profile .bashrc .gitconfig .ssh/authorized_keys .ssh/config; do echo "# planted" >> "$OPERATOR/$f"; done',
    OWN,
    ({ operator }) => contentIn(join(operator, '.gitconfig')).includes('planted'),
  ),
  write(
    'jobs of cron, at and systemd',
    `for f in /var/spool/cron/crontabs/planted /var/spool/cron/atjobs/planted /etc/cron.d/planted \\
  /run/systemd/system/planted.service "$OPERATOR/.config/systemd/user/planted.service"; do
  mkdir -p "$(dirname $f)"; echo "# planted" > $f
done
systemd-run --user --unit=planted true && echo REACHED
systemd-run --unit=planted true && echo REACHED`,
    walls(SANDBOX, USER, OPEN),
    ({ operator }, { said }) =>
      said.includes('REACHED') ||
      [
        '/var/spool/cron/crontabs/planted',
        '/var/spool/cron/atjobs/planted',
        '/etc/cron.d/planted',
        '/run/systemd/system/planted.service',
        join(operator, '.config/systemd/user/planted.service'),
      ].some((file) => existsSync(file)),
  ),
  write(
    'the owner of a file by a hard link',
    'ln "$DATA/unseal.key" "$HOME/linked" && chmod 644 "$HOME/linked"; ln "$OPERATOR/.gitconfig" "$HOME/linked-2"',
    OWN,
    ({ data, operator }) =>
      statSync(join(data, 'unseal.key')).mode % 8 > 0 ||
      statSync(join(operator, '.gitconfig')).nlink > 1,
  ),
  write(
    'the slot folder of another run, by a new name',
    'mv "$RUNNER"/slot-2 "$RUNNER"/slot-9; touch "$RUNNER/slot-9"',
    OWN,
    planted(({ runner }) => join(runner, 'slot-9')),
  ),
  write(
    'the notes of the runner about its own slot',
    'for f in "$RUNNER"/*/occupation.json; do echo "{}" > $f && echo REACHED; done',
    OWN,
  ),
];

const left = (
  name: string,
  program: string,
  held: Attempt['walls'],
  isReached: NonNullable<Attempt['isReached']>,
  moment: Attempt['moment'] = 'together',
): Attempt => ({ name, area: 'files left behind', moment, walls: held, program, isReached });

const REMOVED_WITHIN = 120;
const PAUSE_MS = 250;

const remains =
  (mark: string): NonNullable<Attempt['isReached']> =>
  async ({ runner }) => {
    const isThere = () => pathsBelow(runner).some((path) => path.includes(mark));
    // A run has ended before its folder is removed.
    for (let tries = 0; tries < REMOVED_WITHIN && isThere(); tries += 1) await pause(PAUSE_MS);
    return isThere();
  };

const leaving: readonly Attempt[] = [
  ...['/tmp', '/var/tmp', '/dev/shm'].map((folder) =>
    left(
      `the next run, by a file in ${folder}`,
      `echo planted > ${folder}/planted-by-run`,
      walls('private temporary folders', OPEN, OPEN),
      ({ nextRun }) => existsSync(join(nextRun(), folder, 'planted-by-run')),
    ),
  ),
  left(
    'other users, by a setuid program',
    `cp /bin/sh "$HOME/left-setuid" && chmod 6755 "$HOME/left-setuid"
cp /bin/sh /tmp/left-setuid && chmod 6755 /tmp/left-setuid`,
    walls('private temporary folders', OPEN, OPEN),
    ({ nextRun }) => {
      const file = join(nextRun(), 'tmp/left-setuid');
      return existsSync(file) && (statSync(file).mode & 0o4000) > 0;
    },
  ),
  left(
    'the target of a symbolic link, by the removal of the folder',
    'ln -s "$STAGE/public" "$HOME/left-link"; ln -s "$STAGE/public/canary" "$TMPDIR/left-link"; ln -s "$DATA" "$HOME/left-data"',
    everywhere('removal that follows no links'),
    ({ root, data }) =>
      !existsSync(join(root, 'public/canary')) || !existsSync(join(data, 'unseal.key')),
  ),
  left(
    'the next run, by pipes, sockets and devices in the folder',
    `mkfifo "$HOME/left-pipe"; mknod "$HOME/left-device" c 1 3
perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "$ENV{HOME}/left-socket", Listen => 1) or die $!'`,
    everywhere(EMPTIED),
    remains('left-'),
  ),
  left(
    'the next run, by files of the future',
    'touch -d 2999-01-01 "$HOME/left-future"; touch -d 1901-12-14 "$HOME/left-past"',
    everywhere(EMPTIED),
    remains('left-'),
  ),
  left(
    'the next run, by names of every kind',
    `cd "$HOME" && mkdir left-names && cd left-names && touch -- '-rf' '*' ' ' "$(printf 'a\\nb')" "$(printf '\\377\\376')" "$(printf '%0255d' 0)"`,
    everywhere(EMPTIED),
    remains('left-'),
  ),
  left(
    'the next run, by folders deeper than a path is long',
    `cd "$HOME" && n=$(printf %0200d 0) && mkdir $n && for i in $(seq 60); do mkdir left-t; mv $n left-t; mv left-t $n; done`,
    everywhere(EMPTIED),
    remains('00000000'),
  ),
  left(
    'the next run, by folders that nobody may read',
    `cd "$HOME" && mkdir -p left-closed/inner && touch left-closed/inner/file && chmod 000 left-closed/inner left-closed`,
    everywhere(EMPTIED),
    remains('left-closed'),
  ),
  left(
    'the next run, by files that cannot be changed',
    `touch "$HOME/left-immutable" && chattr +i "$HOME/left-immutable"; mkdir "$HOME/left-mount" && mount -t tmpfs none "$HOME/left-mount" && touch "$HOME/left-mount/left-file"; true`,
    walls(SANDBOX, USER, USER, 'a folder that is set aside'),
    async (stage) => !(await stage.canRun()),
    'plan',
  ),
  left(
    'the next run, by many files',
    `cd "$HOME" && mkdir left-many && cd left-many && perl -e 'for my $i (1..20000) { open my $f, ">", "left-$i" or last }'`,
    everywhere(EMPTIED),
    remains('left-many'),
  ),
  left(
    'the memory of a process of the run, by a core dump elsewhere',
    `cd /tmp && ulimit -c unlimited; perl -e '$x = "planted-core"; kill SEGV => $$'; ls /tmp/core*`,
    walls('private temporary folders', OPEN, OPEN),
    ({ nextRun }) => pathsBelow(join(nextRun(), 'tmp'), 1).some((path) => path.includes('/core')),
  ),
];

/** Files that the runner writes into the folder of a run. */
const FOLDER_LINKS = ['plan.json', 'redacted.json', 'schema.json', 'plan.tar.gz', 'terraform.pid'];

const links: readonly Attempt[] = [
  left(
    'a file elsewhere that the executor writes through a link',
    `for f in ${FOLDER_LINKS.join(' ')}; do ln -sf "$STAGE/written/$f" "../$f"; done`,
    OWN,
    ({ root }) => FOLDER_LINKS.some((name) => existsSync(join(root, 'written', name))),
    'plan',
  ),
  left(
    'a file elsewhere that the executor uploads as the state',
    'ln -sf "$DATA/first-run.json" "../states/$TF_WORKSPACE/terraform.tfstate"',
    OWN,
    async (stage, { runId, workspaceId }) =>
      (await stage.stored(runId, workspaceId)).includes(
        readFileSync(join(stage.data, 'first-run.json'), 'utf8').trim(),
      ),
    'apply',
  ),
];

export const fileAttempts: readonly Attempt[] = [...reading, ...writing, ...leaving, ...links];
