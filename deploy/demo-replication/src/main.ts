/**
 * `make demo-replication`: three clusters and a nats-server on loopback ports of this machine, in temporary
 * folders, and a story that uses them. Exits with 0 when every step succeeded, with 1 when a step failed, and
 * with 130 after Ctrl-C; nothing is left behind. `--keep`: the clusters keep running until Ctrl-C.
 *
 * With KEELSON_DEMO_* set (config.ts), as in the profile `replication` of docker-compose.yml, the same story
 * runs with existing clusters. The connections between them go through this process.
 */
import { parseArgs } from 'node:util';
import { readConfig } from './config.ts';
import { openContainers } from './container-stage.ts';
import type { Stage } from './stage.ts';
import { runStory, showRoles } from './story.ts';
import { openTerminal } from './terminal.ts';

/** Long, because containers that all start together are slow on a small machine. */
const STEP_LIMIT_MS = 300_000;
const ALREADY_PLAYED =
  'These clusters replicate already, and the story begins with such that never did: `docker compose --profile replication down --volumes`, then again. The lines between them are up.';
/** Exit code on Ctrl-C; replaced with the story's own code once it has ended. */
let codeWhenInterrupted = 130;

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
const config = readConfig(process.env);
const building =
  config === undefined
    ? // Not part of the image, which has no servers to start.
      (await import('./process-stage.ts')).openProcesses()
    : openContainers(config);
const interruption = new AbortController();
const interrupted = new Promise<void>((resolve) => {
  interruption.signal.addEventListener('abort', () => resolve());
});
// Repeated signals change nothing: everything that was started is stopped and removed first.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interruption.abort());
const terminal = openTerminal(process.stdout, STEP_LIMIT_MS, interruption.signal);

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Prints the error, the current roles of the clusters and the latest log lines. */
const explain = async (error: unknown, stage: Stage | undefined): Promise<void> => {
  say(`\n${error instanceof Error ? error.message : String(error)}`);
  if (stage === undefined) return;
  await showRoles(terminal, stage);
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
      await runStory(terminal, stage);
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
