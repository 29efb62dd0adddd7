/** The folder of one phase: the files that the tool reads and writes, and what a crash leaves behind. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { discardFolder } from '@keelson/supervisor';
import { download, type Phase } from './control-plane.ts';
import { readRegular } from './regular-file.ts';
import { quoted, toVariableFiles } from './variable-files.ts';

const run = promisify(execFile);

export interface WorkFolder {
  readonly root: string;
  /** Folder in which the tool runs: the workspace's working directory within its configuration. */
  readonly configuration: string;
  readonly stateFile: string;
  readonly planFile: string;
  readonly lockFile: string;
  readonly cliConfigFile: string;
  readonly pidFile: string;
  /** In the order of precedence, lowest first. */
  readonly variableFiles: readonly string[];
}

/** Record in a phase's folder from which a restarted agent recovers the phase. */
export interface Leftover {
  readonly erroredStateUrl: string | null;
  /** Digest of the state at the start of the phase; null if there was none. */
  readonly startedFromMd5: string | null;
  readonly stateFile: string;
  readonly pidFile: string;
}

/** The configuration of a phase, and everything that its run writes there: its state is recovered without it. */
export const filesIn = (root: string): string => join(root, 'configuration');
/** The folder of a phase in that of its executor. */
export const phaseFolder = (run: string, runId: string): string => join(run, 'phases', runId);
export const leftoverFile = (root: string): string => join(root, 'phase.json');
export const stateFileIn = (root: string, workspaceName: string): string =>
  join(root, 'states', workspaceName, 'terraform.tfstate');

const unpack = (archive: string, folder: string): Promise<unknown> =>
  run('tar', ['-xzf', archive, '-C', folder, '--no-same-owner']);

/** Sorts last among override files, so that the state is stored here whatever they configure. */
const OVERRIDE = 'zzzz_keelson_agent_override.tf';

/**
 * The state of a workspace is in `states/<name>`. A plan contains these paths and is applied in another
 * folder with the same structure, so that they are relative to the tool's working directory.
 */
const overrideText = (root: string, configuration: string): string => `terraform {
  backend "local" {
    path          = ${quoted(relative(configuration, stateFileIn(root, 'default')))}
    workspace_dir = ${quoted(relative(configuration, join(root, 'states')))}
  }
}
`;

/** Gives the tool access to other workspaces of the control plane, with the rights of its run. */
const credentials = (address: string, token: string): string =>
  `credentials ${quoted(new URL(address).host)} {\n  token = ${quoted(token)}\n}\n`;

/** @throws Error when the working directory leads out of the configuration */
const insideOf = (folder: string, path: string): string => {
  const inside = resolve(folder, path);
  if (inside !== folder && !inside.startsWith(folder + sep)) {
    throw new Error(`the working directory ${path} is outside of the configuration`);
  }
  return inside;
};

/** The places of a phase in its folder. @throws Error when the working directory leads out of the configuration */
export const toWorkFolder = (root: string, { attributes }: Phase): WorkFolder => {
  const configuration = insideOf(filesIn(root), attributes['working-directory']);
  return {
    root,
    configuration,
    stateFile: stateFileIn(root, attributes['workspace-name']),
    planFile: join(root, 'tfplan'),
    lockFile: join(configuration, '.terraform.lock.hcl'),
    cliConfigFile: join(root, 'cli.tfrc'),
    pidFile: join(root, 'terraform.pid'),
    variableFiles: toVariableFiles(attributes.variables).map((_, index) =>
      join(root, `variables-${index}.tfvars`),
    ),
  };
};

export interface Preparation {
  readonly address: string;
  /** CLI configuration of the agent's operator, for mirrors and caches. */
  readonly operatorConfigFile: string | undefined;
}

/** Downloads everything that the phase needs. */
export const prepareFolder = async (
  root: string,
  phase: Phase,
  { address, operatorConfigFile }: Preparation,
): Promise<WorkFolder> => {
  const { attributes, token } = phase;
  const folder = toWorkFolder(root, phase);
  const { configuration, stateFile, cliConfigFile, variableFiles } = folder;
  await discardFolder(root);
  const files = filesIn(root);
  // Each in one that is there: `recursive` never ends where the folder of the executor was removed.
  for (const path of [root, join(root, 'states'), join(stateFile, '..'), files])
    await mkdir(path, { mode: 0o700 });

  const archive = join(root, 'configuration.tar.gz');
  await download(attributes['configuration-download-url'], archive);
  await unpack(archive, files);
  await writeFile(join(configuration, OVERRIDE), overrideText(root, configuration));

  const stateUrl = attributes['state-download-url'];
  if (stateUrl !== null) await download(stateUrl, stateFile);

  const operatorConfig =
    operatorConfigFile === undefined ? '' : await readFile(operatorConfigFile, 'utf8');
  await writeFile(cliConfigFile, `${operatorConfig}\n${credentials(address, token)}`, {
    mode: 0o600,
  });

  for (const [index, text] of toVariableFiles(attributes.variables).entries())
    await writeFile(variableFiles[index] ?? '', text, { mode: 0o600 });

  const planUrl = attributes['plan-file-download-url'];
  if (attributes.phase === 'apply' && planUrl !== undefined) {
    const packed = join(root, 'plan.tar.gz');
    await download(planUrl, packed);
    await unpack(packed, root);
    // An apply must use the providers that created the plan.
    const locked = await readRegular(join(root, '.terraform.lock.hcl'));
    if (locked !== undefined) await writeFile(folder.lockFile, locked);
  }
  return folder;
};

/**
 * Packs the plan with the provider versions used to create it.
 * @returns the packed file
 */
export const packPlan = async ({ root, planFile, lockFile }: WorkFolder): Promise<string> => {
  const packed = join(root, 'plan.tar.gz');
  const locked = await readRegular(lockFile);
  if (locked !== undefined) await writeFile(join(root, '.terraform.lock.hcl'), locked);
  const names = ['tfplan', ...(locked === undefined ? [] : ['.terraform.lock.hcl'])];
  await run('tar', ['-czf', packed, '-C', root, ...names]);
  await rm(planFile, { force: true });
  return packed;
};
