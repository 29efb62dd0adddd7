/** Memory and number of the processes of a group, as Linux counts them; elsewhere nothing is known. */
import { readdir, readFile } from 'node:fs/promises';

export interface GroupUsage {
  readonly processes: number;
  /** Resident memory of all of them; shared pages count for each. */
  readonly memoryBytes: number;
}

const PAGE_BYTES = 4096;

interface ProcessFacts {
  readonly group: number;
  readonly pages: number;
  /** Whether it has ended, and its parent has not asked yet how. */
  readonly isZombie: boolean;
}

/** The name of a process, in parentheses, may contain anything. @returns undefined if it has ended meanwhile */
const read = async (folder: string): Promise<ProcessFacts | undefined> => {
  const stat = await readFile(`${folder}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { group: Number(fields[2]), pages: Number(fields[21]), isZombie: fields[0] === 'Z' };
};

const list = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder).catch(() => [])).filter((name) => /^\d+$/.test(name));

/** A process whose first thread has ended looks like a zombie, while its memory is that of the other threads. */
const readProcess = async (pid: string): Promise<ProcessFacts | undefined> => {
  const first = await read(`/proc/${pid}`);
  if (first?.isZombie !== true) return first;
  for (const thread of await list(`/proc/${pid}/task`)) {
    const facts = await read(`/proc/${pid}/task/${thread}`);
    if (facts?.isZombie === false) return facts;
  }
  return first;
};

/** @returns the processes that run; none where there is no `/proc` */
export const measureGroup = async (group: number): Promise<GroupUsage> => {
  let processes = 0;
  let memoryBytes = 0;
  for (const pid of await list('/proc')) {
    const found = await readProcess(pid);
    if (found?.group !== group || found.isZombie) continue;
    processes += 1;
    memoryBytes += found.pages * PAGE_BYTES;
  }
  return { processes, memoryBytes };
};
