/** Checks that the test which docs/acme.md names for each MUST exists. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { PROBLEM_STATUS } from './problems/problem.ts';

const REPOSITORY = new URL('../../../../', import.meta.url);
const FOLDERS = ['', 'services/pki/'];

const read = (path: string): string => readFileSync(new URL(path, REPOSITORY), 'utf8');

const documented = read('docs/acme.md');
const section = documented.slice(
  documented.indexOf('## Every MUST'),
  documented.indexOf('## Clients'),
);
/** [section of an RFC, duty, tests]. */
const rows = section
  .split('\n')
  .filter((line) => /^\| *\d/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

/** Tests of ACME by their path below `src/acme`, or by their name alone, without suffixes. */
const testFiles = new Map(
  globSync('**/*.test.ts', { cwd: new URL('.', import.meta.url) }).flatMap((path) => {
    const short = path.replace(/(\.\w+)?\.test\.ts$/, '');
    return [
      [short, path],
      [short.replace(/^.*\//, ''), path],
    ];
  }),
);

const sourceOf = (file: string): string =>
  read(`services/pki/src/acme/${testFiles.get(file) ?? file}`);

/** Whether a test of this title is in the source; "…" matches anything, and a section may follow. */
const hasTest = (source: string, title: string): boolean => {
  const words = title.split('…').map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  return new RegExp(`(['"\`])${words.join('[^\\n]*')}(?: \\([^)\\n]*\\))?\\1`).test(source);
};

const exists = (path: string): boolean =>
  FOLDERS.some((folder) => {
    try {
      return fileURLToPath(new URL(folder + path, REPOSITORY)) !== '' && read(folder + path) !== '';
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EISDIR';
    }
  });

/** Tests of a row that are not there. */
const missingOf = (cell: string): readonly string[] => {
  let file = '';
  return cell.split('; ').filter((entry) => {
    const [, path] = /^`([^`]+)`/.exec(entry) ?? [];
    if (path !== undefined) return !exists(path);
    const [, named, title = entry] = /^([\w/-]+): (.*)$/.exec(entry) ?? [];
    file = named ?? file;
    return file === '' || !hasTest(sourceOf(file), title);
  });
};

describe('the tables of docs/acme.md', () => {
  test('contain the rows of four RFCs', () => {
    expect(rows.length).toBeGreaterThan(80);
  });

  test.for(rows)('%s, %s: %s', ([, , cell = '']) => {
    expect(missingOf(cell)).toEqual([]);
  });
});

/** The registry "ACME Error Types"; `invalidProfile` is of draft-ietf-acme-profiles. */
const REGISTERED = `accountDoesNotExist alreadyReplaced alreadyRevoked autoRenewalCanceled
  autoRenewalCancellationInvalid autoRenewalExpired autoRenewalRevocationNotSupported badCSR
  badAttestationStatement badNonce badPublicKey badRevocationReason badSignatureAlgorithm caa compound
  connection dns externalAccountRequired incorrectResponse invalidContact invalidProfile malformed
  onionCAARequired orderNotReady rateLimited rejectedIdentifier serverInternal tls unauthorized
  unknownDelegation unsupportedContact unsupportedIdentifier userActionRequired`.split(/\s+/);

test('types of problems are registered', () => {
  expect(Object.keys(PROBLEM_STATUS).filter((type) => !REGISTERED.includes(type))).toEqual([]);
});
