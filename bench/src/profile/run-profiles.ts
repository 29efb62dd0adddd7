/** The command `npm run bench -- profile`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadName } from '../prepared-loads.ts';
import { toCostTable } from './cost-table.ts';
import { profileWork } from './profile.ts';
import { acmeOrders, distributedLoad, type OpenWork, standaloneLoad } from './profiled-works.ts';

interface ProfileOptions {
  /** Several processes in place of one; not for the ACME order. */
  readonly distributed: boolean;
  /** Threads of the one process that serve clients. */
  readonly threads: string;
  /** Numbers, separated by commas. */
  readonly connections: string;
  readonly quick: boolean;
}

const LOADS: Readonly<Record<string, LoadName>> = {
  create: 'create a workspace',
  show: 'show a workspace',
  list: 'list 20 workspaces',
  lock: 'lock and unlock a workspace',
  issue: 'issue a certificate',
  role: 'read a role',
  roles: 'list 100 roles',
  token: 'look the own token up',
  'create-token': 'create a token',
  login: 'log in by AppRole',
};

const FOLDER = join(import.meta.dirname, '..', '..', 'profiles');

const findWork = (
  work: string,
  { distributed, threads }: ProfileOptions,
): [title: string, OpenWork] => {
  if (work === 'acme' && !distributed) return ['an ACME order', acmeOrders];
  const load = LOADS[work];
  if (load === undefined)
    throw new Error(`no such work: ${work}; there are ${Object.keys(LOADS).join(', ')}, acme`);
  return [load, distributed ? distributedLoad(load) : standaloneLoad(load, threads)];
};

/** Prints a table of each work, and writes it into `bench/profiles` unless it was a smoke run. */
export const runProfiles = async (
  works: readonly string[],
  options: ProfileOptions,
): Promise<void> => {
  const { distributed, threads, connections, quick } = options;
  const several = threads === '1' ? '' : `-${threads}-threads`;
  const form = distributed ? 'distributed' : `standalone${several}`;
  const say = (line: string): void => console.error(`  … ${line}`);
  for (const work of works) {
    const [title, open] = findWork(work, options);
    say(title);
    const counts = connections.split(',').map(Number);
    const table = toCostTable(`${title}, ${form}`, await profileWork({ quick, say }, open, counts));
    mkdirSync(FOLDER, { recursive: true });
    if (!quick) writeFileSync(join(FOLDER, `${work}-${form}.txt`), table);
    console.log(`\n${table}`);
  }
};
