import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SecondaryIdentity } from '../src/replication.ts';

export interface KillPlan {
  readonly natsUrl: string;
  readonly file: string;
  /** How many steps are gone through before the end. */
  readonly steps: number;
  /** Absent: it is the primary, and writes. */
  readonly secondary?: {
    readonly identity: SecondaryIdentity;
    /** Counts steps only once it follows from the stream. */
    readonly isCopied: boolean;
  };
}

const CLUSTER = fileURLToPath(new URL('./killed-cluster.ts', import.meta.url));

/** Runs it to its end and gives back its complete lines: paths of acknowledged writes. */
export const runKilledCluster = (plan: KillPlan): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, [CLUSTER, JSON.stringify(plan)], (error, stdout, stderr) => {
      if (error?.signal === 'SIGKILL') resolve(stdout.split('\n').slice(0, -1));
      else reject(new Error(`the cluster ended by itself: ${stderr}`));
    });
  });
