/** `npm run imports`: fails on an import cycle, and on an import that `allowed-imports.ts` does not allow. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { allowedImports, outsideProduct } from './allowed-imports.ts';
import {
  findCircles,
  findForbidden,
  findOutsideImports,
  type Import,
  importsOf,
} from './import-graph.ts';

const listFiles = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '');

const packages = Object.fromEntries(
  listFiles('package.json', '*/package.json').map((file) => [
    String(JSON.parse(readFileSync(file, 'utf8')).name),
    posix.dirname(file),
  ]),
);

/** Tests compose parts from many folders, so that only the rules between packages apply to them. */
const isTest = (file: string): boolean =>
  /\.(test|contract)\.ts$|\/(test|testdata|contract|crash)\//.test(file);

const crossesPackages = ({ from, to }: Import): boolean =>
  from.split('/', 2).join('/') !== to.split('/', 2).join('/');

const sources = listFiles('*.ts', '*.tsx').filter((file) => !file.startsWith('proto/gen/'));
const imports = sources.flatMap((file) => importsOf(file, readFileSync(file, 'utf8'), packages));
const product = imports.filter(({ from }) => !isTest(from));
const ofTests = imports.filter((each) => isTest(each.from) && crossesPackages(each));

const faults = [
  ...findCircles(product),
  ...findForbidden([...product, ...ofTests], allowedImports),
  ...findOutsideImports(product, outsideProduct),
];
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) {
  process.stderr.write(
    `${faults.length} faults; allowed graph: libs/lint/src/allowed-imports.ts\n`,
  );
  process.exitCode = 1;
} else {
  process.stdout.write(
    `${imports.length} imports of ${sources.length} files: no circle, no arrow out of order\n`,
  );
}
