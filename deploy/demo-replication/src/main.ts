/**
 * `make demo-replication`: three clusters and a nats-server on loopback ports of this machine, in temporary
 * folders, and a story told with them. Ends with 0 when all of it was seen, with 1 when a step saw something
 * else, with 130 after Ctrl-C; nothing stays behind. `--keep`: the clusters stay up until Ctrl-C.
 */
import { parseArgs } from 'node:util';
import { openBuilding, type Stage } from './stage.ts';
import { tell, tellStory } from './story.ts';
import { openTerminal } from './terminal.ts';

const STEP_LIMIT_MS = 120_000;
/** What Ctrl-C ends with; the story's own code once it was told. */
let codeWhenInterrupted = 130;
/** Enough to see what a process complained about. */
const SHOWN_LOG_LINES = 5;

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
const building = openBuilding();
const interruption = new AbortController();
const interrupted = new Promise<void>((resolve) => {
  interruption.signal.addEventListener('abort', () => resolve());
});
// Further ones do not hurry it: what was started is ended and removed first.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interruption.abort());
const terminal = openTerminal(process.stdout, STEP_LIMIT_MS, interruption.signal);

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const clustersOf = ({ primary, secondary, dr }: Stage) =>
  Object.entries({ primary, secondary, spare: dr });

const showAddresses = (stage: Stage): void => {
  say('\nThe clusters stay up until Ctrl-C.');
  for (const [name, cluster] of clustersOf(stage))
    say(
      [
        '',
        `  ${name}`,
        `    API         ${cluster.process().http}`,
        `    Console     ${cluster.process().http}/ui/`,
        `    Root token  ${cluster.token}`,
        `    Data        ${cluster.process().dataFolder}`,
      ].join('\n'),
    );
  say(`\n  NATS          ${stage.nats.url}`);
};

/** What went wrong, who is what now, and what the processes said last. */
const explain = async (error: unknown, stage: Stage | undefined): Promise<void> => {
  say(`\n${error instanceof Error ? error.message : String(error)}`);
  if (stage === undefined) return;
  await tell(terminal, stage);
  for (const [name, cluster] of clustersOf(stage)) {
    const lines = cluster.process().output().split('\n').slice(-SHOWN_LOG_LINES);
    say([`\nThe newest log lines of ${name}:`, ...lines].join('\n'));
  }
};

/** @returns the exit code */
const play = async (): Promise<number> => {
  let stage: Stage | undefined;
  let code = 0;
  try {
    terminal.heading('Replication between three clusters on this machine');
    stage = await terminal.step('nats-server and three clusters start', () => building.start());
    await tellStory(terminal, stage);
    say('\nSeen from beginning to end.');
  } catch (error) {
    if (interruption.signal.aborted) return codeWhenInterrupted;
    code = 1;
    await explain(error, stage);
  }
  if (values.keep && stage !== undefined) {
    showAddresses(stage);
    codeWhenInterrupted = code;
    await interrupted;
  }
  return code;
};

const played = play();
const code = await Promise.race([played, interrupted.then(() => codeWhenInterrupted)]);
if (interruption.signal.aborted) say('\nStopping.');
await building.stop();
process.exit(code);
