import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findBinary } from './find-binary.ts';
import { goEnvironment } from './go-tool.ts';

export interface GoModule {
  /** Findings of `go vet`; empty if there are none. */
  vet(): Promise<string>;
  /** The report of its tests, whether they pass or not. */
  test(environment: Readonly<Record<string, string | undefined>>): Promise<string>;
}

/** The Go module in a folder. @throws Error if Go is missing */
export const findGoModule = async (folder: string): Promise<GoModule> => {
  const binary = await findBinary('go', 'golang');
  const go = async (env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<string> => {
    const run = promisify(execFile)(binary, args, { cwd: folder, env });
    const { stdout, stderr } = await run.catch((failed: { stdout?: string; stderr?: string }) => ({
      stdout: failed.stdout ?? '',
      stderr: failed.stderr ?? '',
    }));
    return stdout + stderr;
  };
  return {
    vet: async () => {
      // Run separately: it reports its downloads, and the certificate of the module proxy may be from another
      // authority.
      await go(goEnvironment(), 'mod', 'download');
      return go(goEnvironment(), 'vet', './...');
    },
    test: (environment) => go({ ...goEnvironment(), ...environment }, 'test', '-count=1', './...'),
  };
};
