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

/** The name of a process, in parentheses, may contain anything. */
const parse = (stat: string): ProcessFacts => {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { group: Number(fields[2]), pages: Number(fields[21]), isZombie: fields[0] === 'Z' };
};

/** @returns the processes that run; none where there is no `/proc` */
export const measureGroup = async (group: number): Promise<GroupUsage> => {
  let processes = 0;
  let memoryBytes = 0;
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid)) continue;
    // It may have ended.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    if (stat === undefined) continue;
    const found = parse(stat);
    if (found.group !== group || found.isZombie) continue;
    processes += 1;
    memoryBytes += found.pages * PAGE_BYTES;
  }
  return { processes, memoryBytes };
};
