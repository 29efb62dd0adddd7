import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { CrashPlan } from './crash-writer.ts';

const WRITER = fileURLToPath(new URL('./crash-writer.ts', import.meta.url));
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Runs the writer until it is killed and returns its complete lines.
 * @param environment of the writer; that of this process if absent
 */
export const runCrashWriter = (
  plan: CrashPlan,
  environment?: NodeJS.ProcessEnv,
): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    const options = { maxBuffer: MAX_OUTPUT_BYTES, ...(environment && { env: environment }) };
    execFile(process.execPath, [WRITER, JSON.stringify(plan)], options, (error, stdout, stderr) => {
      if (error?.signal === 'SIGKILL') resolve(stdout.split('\n').slice(0, -1));
      else reject(new Error(`the writer ended by itself: ${stderr}`));
    });
  });
