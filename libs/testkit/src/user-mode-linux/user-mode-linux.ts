/**
 * A machine with a kernel of its own, as an ordinary process (user-mode Linux): for tests of what the kernel of this
 * machine may not offer, such as the controllers of control groups (version 2). It sees the files of this machine and
 * cannot change them. It has one processor, a loopback interface, and 1 GiB of memory.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findBinary } from '../find-binary.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

const EXTENDED_REGISTERS = fileURLToPath(new URL('./extended-registers.c', import.meta.url));
const INIT = fileURLToPath(new URL('./init.sh', import.meta.url));
/** The start takes about two seconds; a busy machine needs a multiple. */
const LIMIT_MS = 120_000;

/**
 * Executes a script of `sh` in a new machine, as root.
 * @returns what it has printed @throws Error with that, unless it ends with status 0
 */
export const runInUserModeLinux = async (script: string): Promise<string> => {
  const kernel = await findBinary('linux.uml', 'user-mode-linux');
  await using shared = await temporaryDirectory();
  await chmod(shared.path, 0o755);
  await writeFile(join(shared.path, 'script'), script);
  const extendedRegisters = join(shared.path, 'extended-registers.so');
  await promisify(execFile)('cc', [
    '-shared',
    '-fPIC',
    '-o',
    extendedRegisters,
    EXTENDED_REGISTERS,
  ]);
  const parameters = [
    'mem=1G',
    'root=/dev/root',
    'rootfstype=hostfs',
    'rootflags=/',
    'ro',
    'quiet',
    'con=null',
    'con0=null,fd:1',
    `uml_dir=${shared.path}/`,
    `init=${INIT}`,
    `KEELSON_SHARED=${shared.path}`,
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  ];
  // The processes of the machine are its children, in its group.
  const machine = spawn(kernel, parameters, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { TMPDIR: '/dev/shm', HOME: shared.path, LD_PRELOAD: extendedRegisters },
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  const ended = once(machine, 'exit');
  try {
    const [said] = await Promise.all([text(machine.stdout), text(machine.stderr), ended]);
    const output = await readFile(join(shared.path, 'output'), 'utf8').catch(() => said);
    const status = await readFile(join(shared.path, 'status'), 'utf8').catch(() => 'none');
    if (status.trim() !== '0') throw new Error(`status ${status.trim()}: ${output}`);
    return output;
  } finally {
    if (machine.pid !== undefined && machine.exitCode === null)
      process.kill(-machine.pid, 'SIGKILL');
  }
};
