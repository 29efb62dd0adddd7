/** The files of a stage. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findBinary } from '../find-binary.ts';
import { STAGE_NAMES } from './network.ts';
import { standIn } from './stand-in-tool.ts';

export const ROOT = '/mnt/stage';
const REAL = await findBinary('terraform', 'terraform');
const COMPILED = process.env['NODE_COMPILE_CACHE'];

const folder = (path: string, mode = 0o755, owner = 0): string => {
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
  chownSync(path, owner, owner);
  return path;
};

/** Runs a program, and returns what it prints. */
export const run = (command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

const mountTmpfs = (path: string, mode: string, size = '64m'): void => {
  if (existsSync(path))
    run('mount', '-t', 'tmpfs', '-o', `size=${size},mode=${mode}`, 'none', path);
};

/** A file system in which the attempts can do no harm to the machine. */
export const prepareFiles = (operatorId: number): void => {
  mountTmpfs('/mnt', '755', '900m');
  folder(ROOT);
  mountTmpfs('/tmp', '1777');
  mountTmpfs('/var/tmp', '1777');
  mountTmpfs('/dev/shm', '1777');
  mountTmpfs('/run', '755');
  mountTmpfs('/root', '700');
  writeFileSync('/root/canary', 'canary of root\n', { mode: 0o600 });
  for (const [lower, owner] of [
    ['/etc', 0],
    ['/var/spool', 0],
    [COMPILED, operatorId],
  ] as const) {
    if (lower === undefined || !existsSync(lower)) continue;
    const name = lower.replaceAll('/', '-');
    const upper = folder(`/mnt/upper${name}`, 0o755, owner);
    const options = `lowerdir=${lower},upperdir=${upper},workdir=${folder(`/mnt/work${name}`)}`;
    run('mount', '-t', 'overlay', '-o', options, 'overlay', lower);
  }
  folder('/etc/keelson');
  writeFileSync('/etc/keelson/canary', 'configuration of the operator\n');
  folder('/etc/cron.d');
  folder('/var/spool/cron/crontabs', 0o1730);
  folder('/var/spool/cron/atjobs', 0o1770);
  const names = Object.entries(STAGE_NAMES).map(([name, address]) => `${address} ${name}\n`);
  writeFileSync('/etc/hosts', `127.0.0.1 localhost\n::1 localhost\n${names.join('')}`);
  run('hostname', 'stage');
};

/** The folders of the control plane and of its user. */
export const prepareFolders = (operatorId: number) => {
  const operator = folder(join(ROOT, 'operator'), 0o700, operatorId);
  folder(join(operator, '.ssh'), 0o700, operatorId);
  for (const name of ['.ssh/id_ed25519', '.gitconfig']) {
    writeFileSync(join(operator, name), `${name} of the operator\n`, { mode: 0o600 });
    chownSync(join(operator, name), operatorId, operatorId);
  }
  const tools = folder(join(ROOT, 'tools'), 0o755, operatorId);
  writeFileSync(join(tools, 'terraform'), standIn(REAL), { mode: 0o755 });
  const shared = folder(join(ROOT, 'public'));
  writeFileSync(join(shared, 'canary'), 'for everybody\n');
  return {
    root: ROOT,
    data: folder(join(ROOT, 'data'), 0o700, operatorId),
    runner: folder(join(ROOT, 'runner'), 0o711, operatorId),
    operator,
    tools,
    cache: COMPILED ?? folder(join(ROOT, 'cache'), 0o755, operatorId),
    written: folder(join(ROOT, 'written'), 0o700, operatorId),
  };
};
