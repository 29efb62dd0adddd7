/** The compose files of the repository as data. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { REPOSITORY } from './images.ts';

export interface ComposeService {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  /** Names, or names with aliases. */
  readonly networks?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly network_mode?: string;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly mem_limit?: string;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks?: Readonly<Record<string, { readonly internal?: boolean } | null>>;
}

/** Paths in the repository. */
export const composePaths = (): readonly string[] =>
  execFileSync('git', ['ls-files', '*compose*.yml', '*compose*.yaml'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => path !== '');

export const readCompose = (path = 'docker-compose.yml'): ComposeFile =>
  parse(readFileSync(join(REPOSITORY, path), 'utf8'), { merge: true }) as ComposeFile;

/** Networks of a service: `default` if it names none. */
export const networksOf = ({ networks, network_mode }: ComposeService): readonly string[] => {
  if (network_mode === 'none') return [];
  if (networks === undefined) return ['default'];
  return Array.isArray(networks) ? networks : Object.keys(networks);
};
