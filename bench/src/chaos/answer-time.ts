/** The response time in a trial that runs in the same process as the system under test. */
export interface TimedAnswer<T> {
  readonly answer: T;
  readonly milliseconds: number;
  /** Upper bound of the time spent working; waiting for a busy machine or a slow disk is not judged. */
  readonly workMilliseconds: number;
}

export const timeAnswer = async <T>(send: () => Promise<T>): Promise<TimedAnswer<T>> => {
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const answer = await send();
  const milliseconds = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { answer, milliseconds, workMilliseconds: Math.min(milliseconds, (user + system) / 1000) };
};
