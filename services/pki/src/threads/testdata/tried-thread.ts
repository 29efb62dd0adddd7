/** A thread that doubles numbers, refuses negative ones, and ends at 13. */
import { KeelsonError } from '@keelson/errors';
import { serveJobs } from '../settled.ts';

export const serve = serveJobs((value: number): number => {
  if (value < 0) throw new KeelsonError('request.invalid', { text: `negative: ${value}` });
  if (value === 13) process.exit(1);
  return 2 * value;
});
