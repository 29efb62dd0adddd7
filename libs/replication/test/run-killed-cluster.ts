import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { recordedEnvironment } from '@keelson/testkit';
import type { SecondaryIdentity } from '../src/replication.ts';

export interface KillPlan {
  readonly natsUrl: string;
  readonly file: string;
  /** Folder of the record of the disk that the file is on; removed and made again. */
  readonly record: string;
  /** Number of steps completed before the kill. */
  readonly steps: number;
  /** Absent for the primary, which also writes. */
  readonly secondary?: {
    readonly identity: SecondaryIdentity;
    /** Counts steps only once it follows from the stream. */
    readonly isCopied: boolean;
  };
}

const CLUSTER = fileURLToPath(new URL('./killed-cluster.ts', import.meta.url));

/** Runs the cluster until it is killed and returns its complete lines: paths of acknowledged writes. */
export const runKilledCluster = async (plan: KillPlan): Promise<readonly string[]> => {
  const { file, record } = plan;
  await rm(record, { recursive: true, force: true });
  await mkdir(record);
  const env = await recordedEnvironment({ folder: dirname(file), record });
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [CLUSTER, JSON.stringify(plan)],
      { env },
      (error, stdout, stderr) => {
        if (error?.signal === 'SIGKILL') resolve(stdout.split('\n').slice(0, -1));
        else reject(new Error(`the cluster ended by itself: ${stderr}`));
      },
    );
  });
};
