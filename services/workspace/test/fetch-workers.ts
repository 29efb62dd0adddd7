/** The workers of this process that fetch commits, as the system shows them. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** @returns their process ids */
export const findFetchWorkers = (): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const parent = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return parent === String(process.pid) && command.includes('fetch-worker');
      } catch {
        // It has ended.
        return false;
      }
    })
    .map(Number);

/** Remembers the folders of workers while they work. */
export class WorkerFolders {
  readonly #folders = new Set<string>();

  note(): void {
    for (const pid of findFetchWorkers()) this.#folders.add(readlinkSync(`/proc/${pid}/cwd`));
  }

  get count(): number {
    return this.#folders.size;
  }

  /** The folders that have not been removed. */
  get left(): readonly string[] {
    return [...this.#folders].filter((folder) => existsSync(folder));
  }
}
