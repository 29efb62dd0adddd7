import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { findBinary } from './find-binary.ts';
import { goEnvironment, runGoAlone } from './go-tool.ts';

interface Printed {
  readonly stdout?: string;
  readonly stderr?: string;
}

export interface GoModule {
  /** Downloads and compiles what `vet` and `test` need. @throws Error with what Go says */
  compile(): Promise<void>;
  /** Findings of `go vet`; empty if there are none. */
  vet(): Promise<string>;
  /** The report of its tests, whether they pass or not. */
  test(environment: Readonly<Record<string, string | undefined>>): Promise<string>;
}

const printedBy = (command: Promise<Printed>): Promise<string> =>
  command
    .catch((failed: Printed) => failed)
    .then(({ stdout = '', stderr = '' }) => stdout + stderr);

/** The Go module in a folder. @throws Error if Go is missing */
export const findGoModule = async (folder: string): Promise<GoModule> => {
  const binary = await findBinary('go', 'golang');
  const build = (...args: readonly string[]): Promise<Printed> =>
    runGoAlone(basename(folder), folder, goEnvironment(), ...args);
  return {
    compile: async () => {
      await build('vet', './...');
      await build('test', '-run', '^$', './...');
    },
    vet: async () => {
      // Run separately: it reports its downloads, and the certificate of the module proxy may be from another
      // authority.
      await printedBy(build('mod', 'download'));
      return printedBy(build('vet', './...'));
    },
    test: (environment) => {
      const env = { ...goEnvironment(), ...environment };
      const args = ['test', '-count=1', './...'];
      return printedBy(promisify(execFile)(binary, args, { cwd: folder, env }));
    },
  };
};
