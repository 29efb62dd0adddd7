/**
 * The stage of a hostile run, in namespaces of its own: `stage-process.ts FORM [--agent] [--only TEXT] [--rounds N] [--polite N]`.
 * With `--agent`, an agent executes the runs, and only the attempts are made that fit into one plan.
 * Prints a JSON document for each attempt, and for each run of a polite organization.
 */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chownSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type KeelsonProcess, startKeelson } from '../keelson-process.ts';
import { ABSENT, type Attempt, FORMS, type Form, type Tried } from './attempt.ts';
import { ATTEMPTS } from './attempts.ts';
import { MISSING, PRELUDE } from './prelude.ts';
import {
  type Canary,
  contentIn,
  isAtWork,
  listeningPorts,
  processesWith,
  type Secrets,
  type Stage,
} from './stage.ts';
import { StageApi } from './stage-api.ts';
import {
  type AgentContainer,
  CONTAINER_USER,
  IN_CONTAINER,
  startAgentContainer,
  startEngine,
} from './stage-container.ts';
import { prepareFiles, prepareFolders, ROOT, run } from './stage-files.ts';
import { OUTSIDE_ADDRESS, prepareNetwork, startServices } from './stage-services.ts';
import { configurationOf, saidBy, WAYS, type Way } from './ways.ts';

const NOBODY = 65_534;
const AGENT = fileURLToPath(new URL('../../../../deploy/agent/src/main.ts', import.meta.url));
const MAIN = fileURLToPath(new URL('../../../../services/standalone/src/main.ts', import.meta.url));

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    agent: { type: 'boolean', default: false },
    image: { type: 'string' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '1' },
    polite: { type: 'string', default: '0' },
  },
});
const form = FORMS.find((name) => name === positionals[0]);
if (form === undefined) throw new Error(`no such form: ${positionals[0]}`);

/** The user who starts the control plane. */
const operatorId = form === 'user' || form === 'unsafe-user' ? NOBODY : 0;

/** Opened before the stage has a /tmp of its own. */
const imageFile = values.image === undefined ? undefined : openSync(values.image, 'r');
/** Whether an agent executes the runs. */
const hasAgent = values.agent || imageFile !== undefined;

const places = (() => {
  prepareFiles(operatorId);
  prepareNetwork();
  return prepareFolders(operatorId);
})();

const mark = (kind: string): string => `canary-${kind}-${randomBytes(16).toString('hex')}`;
const key = (() => {
  const file = join(ROOT, 'key');
  run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'canary', '-f', file);
  return readFileSync(file, 'utf8');
})();
run('rm', join(ROOT, 'key'), join(ROOT, 'key.pub'));
const keyText = /KEY-----([^-]+)/.exec(key)?.[1]?.replaceAll(/[^A-Za-z0-9+/=]/g, '') ?? '';
const secrets: Secrets = {
  environment: mark('environment'),
  variable: mark('variable'),
  argument: mark('argument'),
  file: mark('file'),
  shared: mark('shared'),
  posix: mark('posix'),
  keyDigest: createHash('sha256').update(keyText).digest('hex'),
};

/** A process of the user of the control plane that waits. */
const startCanary = (name: string): Canary => {
  const child = spawn('perl', ['-e', 'sleep 1000000', name], {
    uid: operatorId,
    gid: operatorId,
    env: { CANARY: secrets.environment },
    stdio: 'ignore',
  });
  const pid = child.pid ?? 0;
  return { pid, isTouched: () => !isAtWork(pid) };
};

const canaries: Readonly<Record<string, Canary>> = Object.fromEntries(
  ['TERM', 'STOP', 'USR2', 'KILL'].map((signal) => {
    const canary = startCanary(`canary-signal-${signal}`);
    writeFileSync(join(ROOT, 'public', `pid-${signal}`), String(canary.pid));
    return [signal, canary];
  }),
);
const other = startCanary(secrets.argument);

writeFileSync('/dev/shm/canary', secrets.posix, { mode: 0o666 });
const [, memory = ''] = /: (\d+)/.exec(run('ipcmk', '-M', '4096', '-p', '0666')) ?? [];
run(
  'perl',
  '-e',
  'shmwrite $ARGV[0], $ARGV[1], 0, length $ARGV[1] or die $!',
  memory,
  secrets.shared,
);
run('ipcmk', '-Q', '-p', '0666');

// Before the services, one of whose sockets an engine would take for that of its own containerd.
const image = imageFile === undefined ? undefined : await startEngine(imageFile);
const services = await startServices();
services.knock(7999);

const RUNNER: Readonly<Record<Form, Readonly<Record<string, string>>>> = {
  root: { KEELSON_RUNNER: 'true' },
  user: { KEELSON_RUNNER: 'true' },
  'unsafe-root': { KEELSON_RUNNER: 'unsafe' },
  'unsafe-user': { KEELSON_RUNNER: 'unsafe' },
  'unsafe-shared': { KEELSON_RUNNER: 'unsafe', KEELSON_RUNNER_FIRST_USER_ID: '0' },
  container: { KEELSON_LISTEN_ADDRESS: OUTSIDE_ADDRESS },
};

/** On the command line of a process that is left to end all others. */
const SURVIVOR = '70004';
const LIMIT_SECONDS = 90;
const TOGETHER_WITHIN_MS = 600_000;
const POLITE_WITHIN_MS = 600_000;

/** Starts Node as the user of the form. */
const asOperator = (main: string): [string, ...string[]] => [
  'setpriv',
  ...(operatorId === 0 ? [] : [`--reuid=${operatorId}`, `--regid=${operatorId}`, '--clear-groups']),
  '--',
  process.execPath,
  '--disable-sigusr1',
  main,
];
/** The number of a process of the machine in a container, which sees none of them. */
const UNSEEN = 999_999;
const PATH = `${places.tools}:${process.env['PATH']}`;

const start = (): Promise<KeelsonProcess> =>
  startKeelson({
    dataFolder: places.data,
    command: asOperator(MAIN),
    env: {
      ...RUNNER[form],
      ...(hasAgent && { KEELSON_RUNNER: 'false' }),
      PATH,
      HOME: places.operator,
      CANARY: secrets.environment,
      KEELSON_RATE_LIMIT: 'off',
      KEELSON_RUNNER_FOLDER: places.runner,
      KEELSON_RUNNER_TIME_LIMIT_SECONDS: String(LIMIT_SECONDS),
    },
  });

let keelson = await start();
const api = new StageApi(() => keelson);

await api.createOrganization('attacker');
await api.createOrganization('victim');

const agentSettings = async () => ({
  KEELSON_AGENT_ADDRESS: keelson.http,
  KEELSON_AGENT_TOKEN: await api.createPool('attacker'),
  // A secret of its environment, which runs are not given.
  KEELSON_AGENT_NAME: secrets.environment,
  KEELSON_AGENT_POLL_MILLISECONDS: '200',
});

/** An agent of the attacker's organization. */
const startAgent = async (): Promise<AgentContainer> => {
  const [program, ...args] = asOperator(AGENT);
  const agent = spawn(program, args, {
    env: {
      PATH,
      HOME: places.operator,
      ...(await agentSettings()),
      KEELSON_AGENT_FOLDER: places.runner,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { pid: () => agent.pid ?? 0 };
};

/** The same in its container, which holds what it executes. */
const startContainedAgent = async (name: string): Promise<AgentContainer> => {
  chownSync(places.runner, CONTAINER_USER, CONTAINER_USER);
  return startAgentContainer(
    name,
    {
      ...(await agentSettings()),
      KEELSON_AGENT_EXECUTION: 'unsafe',
      KEELSON_AGENT_TERRAFORM: `${IN_CONTAINER.tools}/terraform`,
      KEELSON_AGENT_TIME_LIMIT_SECONDS: String(LIMIT_SECONDS),
    },
    { [places.runner]: IN_CONTAINER.folder, [places.tools]: `${IN_CONTAINER.tools}:ro` },
  );
};

const agent = await (async () => {
  if (image !== undefined) return startContainedAgent(image);
  return values.agent ? startAgent() : undefined;
})();
const isAlive = () => isAtWork(keelson.pid) && (agent === undefined || isAtWork(agent.pid()));
const victim = await api.createWorkspace('victim', 'victim', { VICTIM: secrets.variable });
/** A run of another organization at the same time, where the form has that. */
const startVictim = async (): Promise<string> => {
  const program = `echo ${secrets.file} > "$HOME/victim-file"; echo waiting; exec sleep 100000`;
  const id = await api.queueRun(victim, configurationOf(program, {}), true);
  await api.awaitLog(id, 'plan', 'waiting');
  return id;
};
const hasVictim = !hasAgent && (form === 'root' || form === 'unsafe-root');
const victimRun = hasVictim ? await startVictim() : 'run-absent';

const settings = (): string =>
  Object.entries({
    STAGE: ROOT,
    DATA: places.data,
    RUNNER: hasAgent ? join(places.runner, 'phases') : places.runner,
    OPERATOR: places.operator,
    TOOLS: places.tools,
    CACHE: places.cache,
    MAIN,
    CONTROL: agent?.pid() ?? keelson.pid,
    OTHER: other.pid,
    PORTS: listeningPorts(keelson.pid)
      .filter((port) => !keelson.http.endsWith(`:${port}`) && !keelson.https.endsWith(`:${port}`))
      .join(' '),
    ADDRESS: keelson.http,
    VICTIM_WORKSPACE: victim,
    VICTIM_RUN: victimRun,
    ...(form === 'container' && {
      RUNNER: `${IN_CONTAINER.folder}/phases`,
      TOOLS: IN_CONTAINER.tools,
      MAIN: IN_CONTAINER.main,
      CONTROL: 1,
      OTHER: UNSEEN,
    }),
  })
    .map(([name, value]) => `${name}='${value}'; export ${name}\n`)
    .join('');

const stage: Stage = {
  ...places,
  ...services,
  secrets,
  canaries,
  other: other.pid,
  nextRun: () => (form === 'container' ? `/proc/${agent?.pid()}/root` : '/'),
  isAlive,
  canWrite: () => api.canWrite(),
  storesAgain: () =>
    api.awaitStorage().then(
      () => true,
      () => false,
    ),
  canRun: () => api.canRun(configurationOf('true', {})),
  canWatch: () => {
    try {
      run(
        'setpriv',
        `--reuid=${operatorId}`,
        `--regid=${operatorId}`,
        '--clear-groups',
        '--',
        'perl',
        '-e',
        'exit(syscall(qx(uname -m) =~ /aarch64/ ? 26 : 294, 0) < 0)',
      );
      return true;
    } catch {
      return false;
    }
  },
  answerTo: (method, path, token) => api.answerTo(method, path, token),
  stored: (runId, workspaceId) => api.stored(runId, workspaceId),
  isPlainLog: (runId) => api.isPlainLog(runId),
  queued: () =>
    contentIn('/proc/sysvipc/msg')
      .split('\n')
      .slice(1)
      .reduce((sum, line) => sum + Number(line.trim().split(/\s+/)[4] ?? 0), 0),
};

const report = (document: object): void =>
  void process.stdout.write(`${JSON.stringify(document)}\n`);

const judge = async (attempt: Attempt, tried: Tried, way: Way = 'stand-in'): Promise<void> => {
  const { name, isReached } = attempt;
  let fault: string | undefined;
  const isOpen = await (async () => {
    if (isReached === undefined) return tried.said.includes('REACHED');
    return isReached(stage, tried);
  })().catch((error: unknown) => {
    fault = String(error);
    return true;
  });
  report({
    attempt: name,
    way,
    isReached: isOpen,
    said: tried.said.slice(-600),
    status: tried.status,
    fault,
  });
};

/** Brings the stage back to where it was before an attempt that has ended the control plane. */
const repair = async (): Promise<void> => {
  // One that ends all others would end the next one as well.
  for (const pid of processesWith(SURVIVOR)) process.kill(pid, 'SIGKILL');
  if (isAlive() && (await api.canWrite())) return;
  await keelson.stop('SIGKILL');
  keelson = await start();
  await api.awaitStorage();
};

/** Organizations whose runs only want to be executed. */
const polite: string[] = [];
for (let number = 1; number <= Number(values.polite); number += 1) {
  await api.createOrganization(`polite-${number}`);
  polite.push(await api.createWorkspace(`polite-${number}`, 'polite'));
}

/** Does it while each of the others has a run, and reports those that were not executed. */
const besideOthers = async (work: () => Promise<void>): Promise<void> => {
  const runs = polite.map(async (workspace) => {
    const runId = await api.queueRun(workspace, configurationOf('true', {}), true);
    return api.settled(runId, POLITE_WITHIN_MS);
  });
  const [, ...ended] = await Promise.all([work(), ...runs.map((run) => run.catch(String))]);
  for (const status of ended)
    if (status === 'planned_and_finished') report({ polite: status });
    else report({ broken: `a run of another organization ended with ${status}` });
};

const performAlone = async (attempt: Attempt): Promise<void> => {
  const workspace = await api.createWorkspace(
    'attacker',
    `alone-${randomBytes(6).toString('hex')}`,
    attempt.variables ?? {},
    key,
  );
  const program = `${settings()}${PRELUDE}\n${attempt.program}\n`;
  const runId = await api.queueRun(
    workspace,
    configurationOf(program, attempt),
    attempt.moment !== 'apply',
  );
  const { during } = attempt;
  if (during !== undefined) {
    await api.awaitLog(runId, 'plan', during).catch(() => undefined);
    await judge(attempt, { runId, workspaceId: workspace, status: 'running', said: '', log: '' });
    await api.cancel(runId);
  }
  const status = await api
    .settled(runId, (LIMIT_SECONDS + 30) * 1000)
    .catch((error: unknown) => String(error));
  const log = isAlive()
    ? await api.logOf(runId, attempt.moment === 'apply' ? 'apply' : 'plan').catch(String)
    : '';
  if (during === undefined)
    await judge(attempt, { runId, workspaceId: workspace, status, said: log, log });
  // Without the sandbox nobody else removes it.
  rmSync('/tmp/full', { force: true });
  await repair();
};

/** Many attempts in one run, each with its output between two marks. */
const performTogether = async (attempts: readonly Attempt[], way: Way): Promise<void> => {
  if (attempts.length === 0) return;
  const workspace = await api.createWorkspace(
    'attacker',
    `together-${randomBytes(6).toString('hex')}`,
    {},
    key,
  );
  const parts = attempts.map(
    ({ program }, index) => `
cat > "$HOME/.program" <<'@program@'
. "$HOME/.prelude"
${program}
@program@
echo "@@ ${index} begins"
timeout -k 2 25 sh "$HOME/.program" > "$HOME/.output" 2>&1
echo "exit $?" >> "$HOME/.output"
head -c 20000 "$HOME/.output"
echo
echo "@@ ${index} ends"
`,
  );
  const program = `${settings()}
cat > "$HOME/.prelude" <<'@prelude@'
${PRELUDE}
@prelude@
${MISSING}
${parts.join('')}
echo '@@ over'
`;
  const runId = await api.queueRun(workspace, WAYS[way](program), way !== 'module');
  const status = await api.settled(runId, TOGETHER_WITHIN_MS);
  const whole = await api.logOf(runId, way === 'module' ? 'apply' : 'plan');
  const log = saidBy[way](whole);
  if (!log.includes('@@ over'))
    report({
      broken: `the run with attempts in a ${way} ended with ${status}: ${whole.slice(-2000)}`,
    });
  for (const [missing] of log.matchAll(/^@@ missing .*/gm)) report({ broken: missing });
  for (const [index, attempt] of attempts.entries()) {
    const [, from = ''] = log.split(`@@ ${index} begins\n`);
    const [said = ''] = from.split(`@@ ${index} ends`);
    await judge(attempt, { runId, workspaceId: workspace, status, said, log: said }, way);
  }
};

const chosen = ATTEMPTS.filter(
  ({ name, walls }) =>
    walls[form] !== ABSENT && (values.only === undefined || name.includes(values.only)),
);
const together = chosen.filter(({ moment }) => moment === 'together');
const alone = chosen.filter(({ moment }) => moment !== 'together');

// They leave nothing outside, so that they can be tried again.
const repeated = together.filter(({ isReached }) => isReached === undefined);
// The tool waits a minute for a provider.
const short = repeated.filter(
  ({ area }) => area === 'files of the installation' || area === 'secrets',
);
for (let round = 0; round < Number(values.rounds); round += 1) {
  if (hasAgent) {
    await performTogether(together, 'stand-in');
    if (form === 'container') for (const attempt of alone) await performAlone(attempt);
    continue;
  }
  await besideOthers(() => performTogether(together, 'stand-in'));
  await besideOthers(() => performTogether(repeated, 'module'));
  await besideOthers(() => performTogether(short, 'provider'));
  for (const attempt of alone) await besideOthers(() => performAlone(attempt));
}
report({
  over: chosen.length,
  ...(!hasAgent && { canRun: await stage.canRun() }),
  isVictimRunning: hasVictim && (await api.isRunning(victimRun)),
});
// A reader that is late has not taken all documents from the pipe yet, and an exit would drop the others.
await new Promise((written) => process.stdout.write('', written));
process.exit(0);
