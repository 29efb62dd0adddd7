/** What an agent is told by its environment. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';

export interface AgentConfig {
  /** Of the control plane, without a trailing slash. */
  readonly address: string;
  /** Of the agent pool. */
  readonly token: string;
  readonly name: string;
  /** Keeps who the agent is, and the phase it works on. */
  readonly folder: string;
  /** PEM file of an authority that vouches for the control plane. */
  readonly caFile: string | undefined;
  /** The binary where no folder of versions is given, or it lacks the one that is asked for. */
  readonly terraform: string;
  /** Holds `<version>/terraform`. */
  readonly versionsFolder: string | undefined;
  /** Pause between two questions for work, in milliseconds. */
  readonly pollMs: number;
}

const PREFIX = 'KEELSON_AGENT_';

/** @throws Error that names the setting which is missing or wrong */
export const readConfig = (env: NodeJS.ProcessEnv): AgentConfig => {
  const find = (name: string): string | undefined => env[PREFIX + name] || undefined;
  const need = (name: string): string => {
    const value = find(name);
    if (value === undefined) throw new Error(`${PREFIX}${name} is not set`);
    return value;
  };
  const tokenFile = find('TOKEN_FILE');
  const token = tokenFile === undefined ? need('TOKEN') : readFileSync(tokenFile, 'utf8').trim();
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

/** The environment without what is the agent's alone: the tool runs code of others. */
export const withoutOwnSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith(PREFIX)));
