/** `npm run chaos` lists; `npm run chaos -- <name>… [--short] [--count N] [--seed N]` tries. */
import { parseArgs } from 'node:util';
import { TRIALS } from './trials.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    count: { type: 'string' },
    seed: { type: 'string' },
  },
});

const unknown = positionals.filter((name) => !TRIALS.some((trial) => trial.name === name));
if (unknown.length > 0) {
  console.error(`no such trial: ${unknown.join(', ')}`);
  process.exit(2);
}
if (positionals.length === 0)
  for (const { name, promise } of TRIALS) console.log(`${name.padEnd(20)} ${promise}`);

let isBroken = false;
for (const trial of TRIALS.filter(({ name }) => positionals.includes(name))) {
  const count = Number(values.count ?? trial.counts[values.short ? 'short' : 'full']);
  const seed = Number(values.seed ?? Date.now() % 2 ** 32);
  console.log(`\n${trial.name}: ${trial.promise}\n${count} inputs, seed ${seed}`);
  const say = (line: string): void => console.error(`  … ${line}`);
  const { broken, figures } = await trial.run({ count, seed, say });
  for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(40)} ${value}`);
  for (const one of broken) console.log(`BROKEN: ${one}`);
  console.log(broken.length === 0 ? 'held' : `${broken.length} times broken`);
  isBroken ||= broken.length > 0;
}
process.exit(isBroken ? 1 : 0);
