/** How long an answer takes in a trial that runs in one process with what is tried. */
export interface TimedAnswer<T> {
  readonly answer: T;
  readonly milliseconds: number;
  /** Of it, at most, work: a machine that does something else, or a slow disk, is not what is tried. */
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
