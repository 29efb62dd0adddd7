/** The steps of a Job, a container each: the first one hands the phase on, the second one executes it. */
import { copyFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ControlPlane,
  Interruption,
  LIMIT_GRACE_MS,
  type Phase,
  AGENT_SETTINGS_PREFIX as PREFIX,
  performPhase,
  trustAuthority,
} from '@keelson/agent';
import { AUTHORITY_FILE, handedFile, PHASE_FILE, secretFile } from './job-manifest.ts';

const STOPPED = 'The pod of this run was stopped before the phase had ended.';

const isAbsent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};

export const receivePhase = async (): Promise<void> => {
  process.umask(0o077);
  await copyFile(secretFile(PHASE_FILE), handedFile(PHASE_FILE));
  await copyFile(secretFile(AUTHORITY_FILE), handedFile(AUTHORITY_FILE)).catch(isAbsent);
};

export const executePhase = async (environment: NodeJS.ProcessEnv): Promise<void> => {
  process.umask(0o077);
  const setting = (name: string): string | undefined => environment[PREFIX + name] || undefined;
  const address = setting('ADDRESS') ?? '';
  const folder = setting('FOLDER') ?? '/data';
  const phase = JSON.parse(await readFile(handedFile(PHASE_FILE), 'utf8')) as Phase;
  // Nothing that the code of the run executes finds it.
  await rm(handedFile(PHASE_FILE));
  const authority = await readFile(handedFile(AUTHORITY_FILE)).catch(isAbsent);
  const interruption = new Interruption();
  process.on('SIGTERM', () => interruption.exceed(STOPPED, LIMIT_GRACE_MS));
  const parts = {
    config: {
      address,
      terraform: setting('TERRAFORM') ?? 'terraform',
      versionsFolder: setting('TERRAFORM_VERSIONS_FOLDER'),
    },
    controlPlane: new ControlPlane(address, ''),
    environment,
    caBundleFile:
      authority === undefined ? undefined : trustAuthority(handedFile(AUTHORITY_FILE), folder),
  };
  await performPhase(parts, phase, join(folder, 'phase'), interruption);
};
