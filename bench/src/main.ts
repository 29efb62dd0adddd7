/**
 * `npm run bench` lists; `npm run bench -- <name>… [--quick] [--records N] [--target URL --token T] [--dialect vendor]` measures.
 * `npm run bench -- profile <work>… [--distributed | --threads N] [--connections N,N] [--quick]` writes what an operation costs.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BENCHES } from './benches.ts';
import { runProfiles } from './profile/run-profiles.ts';
import { toTable, writeResults } from './report.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    target: { type: 'string' },
    token: { type: 'string' },
    dialect: { type: 'string' },
    records: { type: 'string' },
    distributed: { type: 'boolean', default: false },
    threads: { type: 'string', default: '1' },
    connections: { type: 'string', default: '1,16,256' },
  },
});

if (positionals[0] === 'profile') {
  await runProfiles(positionals.slice(1), values);
  process.exit();
}
const unknown = positionals.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(`no such bench: ${unknown.join(', ')}`);
  process.exit(2);
}
const { dialect } = values;
if (dialect !== undefined && dialect !== 'vendor') {
  console.error('--dialect is "vendor", or left out');
  process.exit(2);
}
if (positionals.length === 0) {
  for (const { name, claim } of BENCHES) console.log(`${name.padEnd(20)} ${claim}`);
}

// The figures of another server do not replace those of Keelson.
const folder = join(
  import.meta.dirname,
  '..',
  values.target === undefined ? 'results' : 'results-of-target',
);
for (const bench of BENCHES.filter(({ name }) => positionals.includes(name))) {
  console.log(`\n${bench.name}: ${bench.claim}\n${bench.method}`);
  const say = (line: string): void => console.error(`  … ${line}`);
  const records = values.records === undefined ? undefined : Number(values.records);
  const figures = await bench.run({ ...values, dialect, records, say });
  console.log(`\n${toTable(figures)}\n${writeResults(folder, bench, figures)}`);
}
