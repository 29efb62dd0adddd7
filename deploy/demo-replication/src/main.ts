/**
 * `make demo-replication`: three clusters and a nats-server on loopback ports of this machine, in temporary
 * folders, and a story told with them. Ends with 0 when all of it was seen, with 1 when a step saw something
 * else, with 130 after Ctrl-C; nothing stays behind. `--keep`: the clusters stay up until Ctrl-C.
 *
 * With KEELSON_DEMO_* set (config.ts), as docker-compose.yml does it in its profile `replication`, the same
 * story is told with clusters that are there already. The lines between them go through this process.
 */
import { parseArgs } from 'node:util';
import { readConfig } from './config.ts';
import { openContainers } from './container-stage.ts';
import type { Stage } from './stage.ts';
import { tell, tellStory } from './story.ts';
import { openTerminal } from './terminal.ts';

/** Containers that start all at once take their time on a small machine. */
const STEP_LIMIT_MS = 300_000;
const ALREADY_PLAYED =
  'These clusters replicate already, and the story begins with such that never did: `docker compose --profile replication down --volumes`, then again. The lines between them are up.';
/** What Ctrl-C ends with; the story's own code once it was told. */
let codeWhenInterrupted = 130;

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
const config = readConfig(process.env);
const building =
  config === undefined
    ? // Not in the image, which has no servers to start.
      (await import('./process-stage.ts')).openProcesses()
    : openContainers(config);
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

/** What went wrong, who is what now, and what the processes said last. */
const explain = async (error: unknown, stage: Stage | undefined): Promise<void> => {
  say(`\n${error instanceof Error ? error.message : String(error)}`);
  if (stage === undefined) return;
  await tell(terminal, stage);
  say(`\n${stage.newestLog()}`);
};

/** @returns the exit code */
const play = async (): Promise<number> => {
  let stage: Stage | undefined;
  let code = 0;
  try {
    terminal.heading(building.title);
    stage = await terminal.step(building.text, () => building.start());
    if (stage.wasPlayed) say(`\n${ALREADY_PLAYED}`);
    else {
      await tellStory(terminal, stage);
      say('\nSeen from beginning to end.');
    }
  } catch (error) {
    if (interruption.signal.aborted) return codeWhenInterrupted;
    code = 1;
    await explain(error, stage);
  }
  if (values.keep && stage !== undefined) {
    say(
      `\nThe clusters stay up${config === undefined ? ' until Ctrl-C' : ''}.\n\n${await stage.keep()}`,
    );
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
