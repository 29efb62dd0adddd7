/** Settings of an agent, from its environment. */
import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { AGENT_SETTINGS_PREFIX as PREFIX } from '@keelson/agent';
import type { JobTemplate } from './kubernetes/job-manifest.ts';
import { readJobTemplate } from './kubernetes/job-template.ts';
import type { KubernetesPlace } from './kubernetes/kubernetes-api.ts';
import type { ProcessSettings } from './phase-executor.ts';

/** Where a pod has the token of its service account, and the authority of the API server. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface AgentConfig extends ProcessSettings {
  /** Token of the agent pool. */
  readonly token: string;
  readonly name: string;
  /** Pause between two requests for work, in milliseconds. */
  readonly pollMs: number;
  /** Absent if phases are processes of the agent. */
  readonly jobs:
    | {
        readonly template: JobTemplate;
        readonly place: KubernetesPlace;
        /** PEM file of the API server's authority; undefined where the address is not HTTPS. */
        readonly authorityFile: string | undefined;
      }
    | undefined;
}

/** As long as an apply may take at the services that agents were made for. */
const DEFAULT_TIME_LIMIT_SECONDS = 86_400;

const OTHERS = 0o007;

/** @throws Error when every user of the machine can read or change it */
const readTokenFile = (file: string): string => {
  if ((statSync(file).mode & OTHERS) !== 0)
    throw new Error(
      `${PREFIX}TOKEN_FILE: every user of this machine can read or change ${file}: chmod o= ${file}`,
    );
  return readFileSync(file, 'utf8').trim();
};

/** @throws Error when it is not in a pod, or the file is wrong */
const readJobs = (file: string, env: NodeJS.ProcessEnv): AgentConfig['jobs'] => {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const folder = env[`${PREFIX}SERVICE_ACCOUNT_FOLDER`] || SERVICE_ACCOUNT;
  const ownHost = host?.includes(':') ? `[${host}]` : host;
  const own = ownHost === undefined ? undefined : `https://${ownHost}:${port}`;
  const address = env[`${PREFIX}KUBERNETES_ADDRESS`] || own;
  if (address === undefined)
    throw new Error(`${PREFIX}JOB_FILE: this process is not in a pod of Kubernetes`);
  const template = readJobTemplate(readFileSync(file, 'utf8'), `${PREFIX}JOB_FILE`);
  return {
    template,
    place: { address, tokenFile: join(folder, 'token'), namespace: template.namespace },
    authorityFile: address.startsWith('https:') ? join(folder, 'ca.crt') : undefined,
  };
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
  const count = (name: string, otherwise: number): number => {
    const value = find(name) ?? String(otherwise);
    if (!/^[1-9]\d{0,6}$/.test(value)) throw new Error(`${PREFIX}${name} is not a number`);
    return Number(value);
  };
  const list = (name: string): readonly string[] =>
    (find(name) ?? '').split(',').flatMap((entry) => entry.trim() || []);
  const execution = find('EXECUTION') ?? 'sandbox';
  if (execution !== 'sandbox' && execution !== 'unsafe')
    throw new Error(`${PREFIX}EXECUTION is neither sandbox nor unsafe`);
  const readable = list('READABLE_PATHS');
  for (const path of readable)
    if (!isAbsolute(path)) throw new Error(`${PREFIX}READABLE_PATHS: ${path} is not absolute`);
  const firstUserId = find('FIRST_USER_ID');
  if (firstUserId !== undefined && !/^\d{1,10}$/.test(firstUserId))
    throw new Error(`${PREFIX}FIRST_USER_ID is not a number`);
  const folder = find('FOLDER');
  const versions = find('TERRAFORM_VERSIONS_FOLDER');
  const jobFile = find('JOB_FILE');
  return {
    address,
    token,
    name: find('NAME') ?? hostname(),
    folder: resolve(folder ?? join('data', 'agent')),
    caFile: find('CA_FILE'),
    terraform: find('TERRAFORM') ?? 'terraform',
    versionsFolder: versions === undefined ? undefined : resolve(versions),
    confinement: execution === 'unsafe' ? undefined : { ranges: list('ALLOWED_RANGES'), readable },
    firstUserId: firstUserId === undefined ? undefined : Number(firstUserId),
    timeLimitSeconds: count('TIME_LIMIT_SECONDS', DEFAULT_TIME_LIMIT_SECONDS),
    pollMs: count('POLL_MILLISECONDS', 2000),
    jobs: jobFile === undefined ? undefined : readJobs(jobFile, env),
  };
};
