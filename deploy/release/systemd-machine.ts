/** A machine with a running systemd: namespaces over a layer of this machine's files, which end with it. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** systemd arranges all processes of the control group in which it starts, so it gets one of its own; `$1` is its name. */
const IN_GROUP = `
for tree in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
  if [ -e "$tree/cgroup.procs" ]; then
    mkdir -p "$tree/$1"
    echo $$ > "$tree/$1/cgroup.procs"
  fi
done
shift
exec unshare --kill-child --mount --pid --fork --uts --ipc --cgroup "$@"
`;

/** `$1` is the folder of the layer. No unit of this machine is started but those that the check wants. */
const BOOT = `
layer=$1
root=$layer/root
mkdir -p "$layer/changed" "$layer/work" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$layer/changed,workdir=$layer/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/dev"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
rm -rf "$root"/lib/systemd/system/*.wants "$root"/etc/systemd/system/*.wants "$root/lib/systemd/system-generators" "$root/etc/fstab"
cd "$root"
# The root of its namespace, as the namespaces of units need it.
pivot_root . mnt
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -euc 'umount -l /mnt; exec /lib/systemd/systemd --unit=check.service'
`;

/** A name that the root folder of no machine has, which may have one by the name of what it checks out. */
const CHECK = 'keelson-systemd-check';

const CHECK_UNIT = `[Unit]
After=basic.target systemd-journald.service
Wants=systemd-journald.service
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
ExecStart=/bin/sh -eu /${CHECK}
StandardOutput=file:/${CHECK}.out
StandardError=inherit
`;

/** A start of a busy machine. */
const LIMIT_MS = 240_000;

/** Control groups are removed from the innermost outwards. */
const removeGroup = async (name: string): Promise<void> => {
  for (const tree of ['', 'unified/', 'systemd/']) {
    const group = `/sys/fs/cgroup/${tree}${name}`;
    const find = promisify(execFile)('find', [
      group,
      '-depth',
      '-type',
      'd',
      '-exec',
      'rmdir',
      '{}',
      ';',
    ]);
    await find.catch(() => undefined);
  }
};

/**
 * Boots systemd, runs a shell script once it is up, and ends it. The machine has this machine's network.
 * @param layer folder in which the changes of the machine are kept, on a file system that a layer can be on
 * @returns what the script printed on both streams, also when it failed
 */
export const runUnderSystemd = async (layer: string, script: string): Promise<string> => {
  const changed = join(layer, 'changed');
  await mkdir(join(changed, 'etc/systemd/system'), { recursive: true });
  await writeFile(join(changed, 'etc/systemd/system/check.service'), CHECK_UNIT);
  await writeFile(join(changed, CHECK), script);
  await rm(join(changed, `${CHECK}.out`), { force: true });
  const group = `keelson-test-${process.pid}`;
  const boot = ['sh', '-euc', BOOT, 'sh', layer];
  const machine = promisify(execFile)('sh', ['-euc', IN_GROUP, 'sh', group, ...boot], {
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  const ended = await machine.catch((error: Error) => error);
  await removeGroup(group);
  return readFile(join(changed, `${CHECK}.out`), 'utf8').catch((cause: unknown) => {
    throw new Error(`systemd did not start: ${JSON.stringify(ended)}`, { cause });
  });
};
