/**
 * `npm run chaos` lists the trials; `npm run chaos -- <name>… [--short] [--count N] [--minutes M] [--seed N]`
 * runs some. Minutes are the duration of a trial that counts seconds, and the time limit of any other. Without
 * `--count` and `--seed`, PROPERTY_FACTOR and PROPERTY_SEED apply to trials of inputs.
 */
import { parseArgs } from 'node:util';
import { type Chaos, extentOf } from './chaos.ts';
import { TRIALS } from './trials.ts';

const PATIENCE_MS = 1000;
const SECONDS_PER_MINUTE = 60;
const MILLISECONDS_PER_SECOND = 1000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    count: { type: 'string' },
    minutes: { type: 'string' },
    seed: { type: 'string' },
  },
});
const seconds =
  values.minutes === undefined ? undefined : Number(values.minutes) * SECONDS_PER_MINUTE;

const run = async (trial: Chaos): Promise<boolean> => {
  const usual = extentOf(trial, values.short ? 'short' : 'full', Date.now() % 2 ** 31);
  const duration = trial.unit === 'seconds' ? seconds : undefined;
  const count = Number(values.count ?? duration ?? usual.count);
  const seed = Number(values.seed ?? usual.seed);
  console.log(`\n${trial.name}: ${trial.promise}\n${count} ${trial.unit}, seed ${seed}`);
  const startedAt = performance.now();
  const elapsed = (): number => (performance.now() - startedAt) / MILLISECONDS_PER_SECOND;
  const { broken, figures } = await trial.run({
    count,
    seed,
    patienceMs: PATIENCE_MS,
    isOver: () => trial.unit !== 'seconds' && seconds !== undefined && elapsed() >= seconds,
    say: (line) => console.error(`  ${elapsed().toFixed(1).padStart(7)} s  ${line}`),
  });
  for (const [name, value] of [...Object.entries(figures), ['seconds', elapsed().toFixed(0)]])
    console.log(`${String(name).padEnd(50)} ${value}`);
  for (const one of broken) console.log(`BROKEN: ${one}`);
  console.log(broken.length === 0 ? 'held' : `${broken.length} times broken`);
  return broken.length > 0;
};

const unknown = positionals.filter((name) => !TRIALS.some((trial) => trial.name === name));
if (unknown.length > 0) {
  console.error(`no such trial: ${unknown.join(', ')}`);
  process.exit(2);
}
if (positionals.length === 0)
  for (const { name, promise } of TRIALS) console.log(`${name.padEnd(20)} ${promise}`);

let isBroken = false;
for (const trial of TRIALS.filter(({ name }) => positionals.includes(name)))
  isBroken = (await run(trial)) || isBroken;
process.exit(isBroken ? 1 : 0);
