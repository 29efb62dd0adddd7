/** Settings of an agent, from its environment. */
import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { AGENT_SETTINGS_PREFIX as PREFIX, type Tools } from '@keelson/agent';

export interface AgentConfig extends Tools {
  /** Address of the control plane, without a trailing slash. */
  readonly address: string;
  /** Token of the agent pool. */
  readonly token: string;
  readonly name: string;
  /** Folder for the agent's identity and its current phase. */
  readonly folder: string;
  /** PEM file of a CA trusted for the control plane, in addition to the system's. */
  readonly caFile: string | undefined;
  /** Pause between two requests for work, in milliseconds. */
  readonly pollMs: number;
}

const OTHERS = 0o007;

/** @throws Error when every user of the machine can read or change it */
const readTokenFile = (file: string): string => {
  if ((statSync(file).mode & OTHERS) !== 0)
    throw new Error(
      `${PREFIX}TOKEN_FILE: every user of this machine can read or change ${file}: chmod o= ${file}`,
    );
  return readFileSync(file, 'utf8').trim();
};

/** @throws Error naming a setting that is missing or wrong */
export const readConfig = (env: NodeJS.ProcessEnv): AgentConfig => {
  const find = (name: string): string | undefined => env[PREFIX + name] || undefined;
  const need = (name: string): string => {
    const value = find(name);
    if (value === undefined) throw new Error(`${PREFIX}${name} is not set`);
    return value;
  };
  const tokenFile = find('TOKEN_FILE');
  const token = tokenFile === undefined ? need('TOKEN') : readTokenFile(tokenFile);
  const address = need('ADDRESS').replace(/\/+$/, '');
  if (!/^https?:\/\//.test(address)) throw new Error(`${PREFIX}ADDRESS is not an http(s) address`);
  const poll = find('POLL_MILLISECONDS') ?? '2000';
  if (!/^[1-9]\d{0,6}$/.test(poll)) throw new Error(`${PREFIX}POLL_MILLISECONDS is not a number`);
  const folder = find('FOLDER');
  const versions = find('TERRAFORM_VERSIONS_FOLDER');
  return {
    address,
    token,
    name: find('NAME') ?? hostname(),
    folder: resolve(folder ?? join('data', 'agent')),
    caFile: find('CA_FILE'),
    terraform: find('TERRAFORM') ?? 'terraform',
    versionsFolder: versions === undefined ? undefined : resolve(versions),
    pollMs: Number(poll),
  };
};
