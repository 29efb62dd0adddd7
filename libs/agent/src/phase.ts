/** Executes one phase of a run, from fetching its files to its report. */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type SshAgent, toAgentEnvironment, withSshKey } from '@keelson/repositories';
import { discardFolder } from '@keelson/supervisor';
import { type ControlPlane, isGone, type Phase, type PhaseEnd, upload } from './control-plane.ts';
import { NO_CREDENTIALS, obtainCredentials } from './credentials/phase-credentials.ts';
import type { JsonFields } from './json-fields.ts';
import { LogStream } from './log-stream.ts';
import { countChanges, hasDrift, readApplyCounts, type ShownPlan } from './plan-summary.ts';
import { redactPlan } from './redacted-plan.ts';
import { StateKeeper } from './state-keeper.ts';
import {
  findBinary,
  Interruption,
  type Outcome,
  type OutputLimits,
  runTool,
  type ToolPlace,
  type Tools,
  withoutAgentSettings,
} from './terraform.ts';
import { toEnvironment } from './variable-files.ts';
import {
  type Leftover,
  leftoverFile,
  packPlan,
  prepareFolder,
  toWorkFolder,
  type WorkFolder,
} from './work-folder.ts';

/** The part of a phase that a process executes. */
export type PhasePart =
  /** Up to the download of modules and providers, with the keys of an agent. None of the run's code is executed. */
  | { readonly kind: 'init'; readonly sshAgent: SshAgent }
  /** The plan or the apply. */
  | { readonly kind: 'rest' };

export interface PhaseParts {
  /** Absent if the phase is executed as a whole. */
  readonly part?: PhasePart | undefined;
  readonly config: Tools & {
    /** Address of the control plane, without a trailing slash. */
    readonly address: string;
  };
  readonly controlPlane: ControlPlane;
  /** The agent's own environment. */
  readonly environment: NodeJS.ProcessEnv;
  /** Authorities that the tool trusts, PEM; undefined means those of the system. */
  readonly caBundleFile: string | undefined;
  /** Absent if what the tool prints is not limited. */
  readonly outputLimits?: OutputLimits;
}

/** A step of the phase failed; the tool's output is in the log. */
class StepFailed extends Error {}

/** Interval of the requests whether the phase has to stop. */
const WATCH_MS = 2000;
/** Time for the tool to write its state when the phase is reassigned. */
const ABANDON_GRACE_MS = 15_000;

const watchForEnd = async (
  controlPlane: ControlPlane,
  phase: Phase,
  interruption: Interruption,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    await pause(WATCH_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      if (await controlPlane.isCancelRequested(phase)) interruption.cancel();
    } catch (error) {
      // Canceled by force, or abandoned because the agent's heartbeats stopped.
      if (!signal.aborted && isGone(error)) interruption.abandon(ABANDON_GRACE_MS);
    }
  }
};

interface Execution {
  readonly part: PhasePart | undefined;
  readonly phase: Phase;
  readonly folder: WorkFolder;
  readonly log: LogStream;
  readonly controlPlane: ControlPlane;
  /** File name of the binary. */
  readonly toolName: string;
  /** Runs the tool; its output goes to the log when `isLogged`. */
  readonly tool: (
    args: readonly string[],
    isLogged?: boolean,
    moreEnvironment?: NodeJS.ProcessEnv,
  ) => Promise<Outcome>;
  /** Runs the tool even when the phase has to stop, for steps that must still be done. */
  readonly lastTool: (args: readonly string[]) => Promise<Outcome>;
}

/** The log of an assessment has one JSON document per line, in the tool's own format. */
const toLogLine = (text: string, level: 'info' | 'error'): string =>
  `${JSON.stringify({
    '@level': level,
    '@message': text.trim(),
    '@module': 'keelson.agent',
    '@timestamp': new Date().toISOString(),
    type: 'log',
  })}\n`;

/** Writes a message of the agent to the log, as plain text for people. */
const writeMessage = ({ log, phase }: Pick<Execution, 'log' | 'phase'>, text: string): void =>
  log.write(phase.attributes['is-assessment'] ? toLogLine(text, 'error') : text);

/** @throws StepFailed when the tool fails; its output is then in the log */
const need = async (
  execution: Execution,
  args: readonly string[],
  isLogged = false,
  moreEnvironment: NodeJS.ProcessEnv = {},
): Promise<Outcome> => {
  const { tool } = execution;
  const outcome = await tool(args, isLogged, moreEnvironment);
  if (outcome.code === 0) return outcome;
  if (!isLogged) writeMessage(execution, outcome.output);
  throw new StepFailed(`terraform ${args[0]} ended with ${outcome.code}`);
};

const planArgs = (execution: Execution): readonly string[] => {
  const { attributes } = execution.phase;
  return [
    'plan',
    '-input=false',
    '-no-color',
    '-detailed-exitcode',
    // Programs read its log.
    ...(attributes['is-assessment'] ? ['-json'] : []),
    `-out=${execution.folder.planFile}`,
    ...(attributes['is-destroy'] ? ['-destroy'] : []),
    ...(attributes['refresh-only'] ? ['-refresh-only'] : []),
    ...(attributes.refresh ? [] : ['-refresh=false']),
    ...attributes['target-addrs'].map((address) => `-target=${address}`),
    ...attributes['replace-addrs'].map((address) => `-replace=${address}`),
    ...execution.folder.variableFiles.map((file) => `-var-file=${file}`),
  ];
};

const plan = async (execution: Execution): Promise<PhaseEnd> => {
  const { phase, folder, tool } = execution;
  const { attributes } = phase;
  const planned = await tool(planArgs(execution), true);
  // Exit code 2 means that there are changes.
  if (planned.code !== 0 && planned.code !== 2) throw new StepFailed('terraform plan failed');
  const shown = await need(execution, ['show', '-json', folder.planFile]);
  const schemas = await need(execution, ['providers', 'schema', '-json']);
  const document = JSON.parse(shown.stdout) as JsonFields & ShownPlan;
  const redacted = redactPlan(document, JSON.parse(schemas.stdout) as JsonFields);
  const put = async (url: string | undefined, name: string, text: string): Promise<void> => {
    const file = join(folder.root, name);
    await writeFile(file, text, { mode: 0o600 });
    if (url !== undefined) await upload(url, file);
  };
  await put(attributes['json-output-upload-url'], 'plan.json', shown.stdout);
  await put(
    attributes['json-output-redacted-upload-url'],
    'redacted.json',
    JSON.stringify(redacted),
  );
  await put(attributes['json-schema-upload-url'], 'schema.json', schemas.stdout);
  const packed = await packPlan(folder);
  if (attributes['plan-file-upload-url'] !== undefined) {
    await upload(attributes['plan-file-upload-url'], packed);
  }
  const hasChanges = attributes['is-assessment'] ? hasDrift(document) : planned.code === 2;
  return { status: 'finished', 'has-changes': hasChanges, ...countChanges(document) };
};

/** Uploads a state that could not be stored, as a file of the run. */
const saveErroredState = async ({ phase, folder, log }: Execution): Promise<void> => {
  const url = phase.attributes['errored-state-upload-url'];
  if (url === undefined) return;
  await upload(url, folder.stateFile).catch((error: unknown) => {
    log.write('\nThe state could neither be stored nor kept with the apply.\n');
    throw error;
  });
  log.write('\nThe state could not be stored. It is kept with the apply, as errored-state.\n');
};

const apply = async (execution: Execution): Promise<PhaseEnd> => {
  const { phase, folder, controlPlane, tool, lastTool, log } = execution;
  const keeper = new StateKeeper(controlPlane, phase, folder.root, folder.stateFile);
  const leftover: Leftover = {
    erroredStateUrl: phase.attributes['errored-state-upload-url'] ?? null,
    startedFromMd5: await keeper.start(),
    stateFile: folder.stateFile,
    pidFile: folder.pidFile,
  };
  await writeFile(leftoverFile(folder.root), JSON.stringify(leftover), { mode: 0o600 });
  keeper.watch();
  const args = ['apply', '-input=false', '-no-color', folder.planFile];
  const applied = await tool(args, true);
  try {
    await keeper.store(async () => {
      const shown = await lastTool(['show', '-json']);
      return shown.code === 0 ? shown.stdout : undefined;
    });
  } catch (error) {
    log.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    await saveErroredState(execution);
    await rm(leftoverFile(folder.root), { force: true });
    return { status: 'errored' };
  } finally {
    keeper.stop();
  }
  await rm(leftoverFile(folder.root), { force: true });
  if (applied.code !== 0) throw new StepFailed('terraform apply failed');
  const counts = readApplyCounts(applied.output);
  if (Object.values(counts).some((count) => count > 0) && !existsSync(folder.stateFile)) {
    throw new Error('the tool left no state');
  }
  return { status: 'finished', ...counts };
};

const greeting = async (execution: Execution): Promise<void> => {
  const { attributes } = execution.phase;
  const { stdout } = await need(execution, ['version', '-json']);
  const { terraform_version: version, platform } = JSON.parse(stdout) as Record<string, string>;
  const wanted = attributes['runtime-version'];
  const difference =
    wanted === null || wanted === version
      ? ''
      : ` (the workspace names ${wanted}, which this agent does not have)`;
  const name = execution.toolName === 'tofu' ? 'OpenTofu' : 'Terraform';
  const text = `${name} v${version} on ${platform}${difference}\nInitializing plugins and modules...\n`;
  execution.log.write(execution.phase.attributes['is-assessment'] ? toLogLine(text, 'info') : text);
};

const initialize = async (execution: Execution): Promise<void> => {
  const { phase, folder, part } = execution;
  const init = (environment: NodeJS.ProcessEnv) =>
    need(execution, ['init', '-input=false', '-no-color'], false, environment);
  if (part?.kind === 'init') await init(toAgentEnvironment(folder.root, part.sshAgent));
  else await withSshKey(folder.root, phase.attributes['ssh-private-key'], init);
};

/** @returns undefined if the rest follows */
const execute = async (execution: Execution): Promise<PhaseEnd | undefined> => {
  const { phase, part } = execution;
  if (part?.kind !== 'rest') {
    await greeting(execution);
    await initialize(execution);
  }
  if (part?.kind === 'init') return undefined;
  return phase.attributes.phase === 'plan' ? plan(execution) : apply(execution);
};

const reportEnd = async (
  controlPlane: ControlPlane,
  phase: Phase,
  end: PhaseEnd,
): Promise<void> => {
  await controlPlane.report(phase, end).catch((error: unknown) => {
    // The phase was ended by the control plane.
    if (!isGone(error)) throw error;
  });
};

/** Ends a phase that is not executed, or no longer, as errored; `text` is for its log. */
export const refusePhase = async (
  controlPlane: ControlPlane,
  phase: Phase,
  text: string,
): Promise<void> => {
  const log = new LogStream(controlPlane, phase);
  writeMessage({ log, phase }, `${text}\n`);
  await log.end();
  await reportEnd(controlPlane, phase, { status: 'errored' });
};

/** Variables by which a run chooses the code of the programs that `init` starts, and how they sign in. */
const GUIDING =
  /^(?:PATH|ENV|BASH_ENV|SHELLOPTS|(?:LD|GIT|SSH|NODE|PERL|PYTHON|HG)[A-Z0-9_]*|TF_CLI_ARGS.*|KEELSON_.*)$/i;

const withoutGuiding = (variables: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => !GUIDING.test(name)));

/** Executes a phase, or a part of it, and reports its outcome. @returns whether it is over, or the rest follows */
export const performPhase = async (
  { part, config, controlPlane, environment, caBundleFile, outputLimits }: PhaseParts,
  phase: Phase,
  root: string,
  interruption: Interruption,
): Promise<boolean> => {
  const { attributes } = phase;
  const log = new LogStream(controlPlane, phase);
  const say = (text: string): void => writeMessage({ log, phase }, `\n${text}\n`);
  const over = new AbortController();
  const watching = watchForEnd(controlPlane, phase, interruption, over.signal);
  let end: PhaseEnd | undefined;
  let credentials = NO_CREDENTIALS;
  try {
    const folder =
      part?.kind === 'rest'
        ? toWorkFolder(root, phase)
        : await prepareFolder(root, phase, {
            address: config.address,
            operatorConfigFile: environment['TF_CLI_CONFIG_FILE'],
          });
    const variables = toEnvironment(attributes.variables);
    if (part?.kind !== 'init')
      credentials = await obtainCredentials({
        phase,
        root,
        workingFolder: folder.configuration,
        variables,
        environment,
        hide: (secrets) => log.hide(secrets),
        say,
      });
    const place: ToolPlace = {
      binary: await findBinary(config, attributes['runtime-version']),
      folder: folder.configuration,
      pidFile: folder.pidFile,
      outputLimits,
      environment: {
        ...withoutAgentSettings(environment),
        ...(caBundleFile === undefined ? {} : { SSL_CERT_FILE: caBundleFile }),
        ...(part?.kind === 'init' ? withoutGuiding(variables) : variables),
        ...credentials.environment,
        TF_WORKSPACE: attributes['workspace-name'],
        TF_CLI_CONFIG_FILE: folder.cliConfigFile,
        TF_IN_AUTOMATION: '1',
        TF_INPUT: '0',
        CHECKPOINT_DISABLE: '1',
        TFC_RUN_ID: phase.runId,
        TFC_WORKSPACE_NAME: attributes['workspace-name'],
      },
    };
    const tool: Execution['tool'] = (args, isLogged = false, moreEnvironment = {}) =>
      runTool(
        { ...place, environment: { ...place.environment, ...moreEnvironment } },
        args,
        interruption,
        isLogged ? (text) => log.write(text) : undefined,
      );
    const lastTool: Execution['lastTool'] = (args) => runTool(place, args, new Interruption());
    const toolName = basename(place.binary);
    end = await execute({ part, phase, folder, log, controlPlane, toolName, tool, lastTool });
  } catch (error) {
    if (!(error instanceof StepFailed)) {
      say(error instanceof Error ? error.message : String(error));
    }
    end = { status: 'errored' };
  } finally {
    over.abort();
    await watching;
    for (const text of await credentials.end()) say(text);
  }
  if (end === undefined && interruption.reason === undefined) {
    await log.end();
    return false;
  }
  end ??= { status: 'errored' };
  if (interruption.lastWords !== undefined) say(interruption.lastWords);
  // A plan that had to stop is not reported as finished, but a completed apply is.
  if (end.status === 'errored' || attributes.phase === 'plan') {
    if (interruption.reason === 'canceled') end = { status: 'canceled' };
    if (interruption.reason === 'exceeded') end = { status: 'errored' };
  }
  await log.end();
  await reportEnd(controlPlane, phase, end);
  // A state that exists only here is kept for recovery at the next start.
  if (!existsSync(leftoverFile(root))) await discardFolder(root);
  return true;
};
