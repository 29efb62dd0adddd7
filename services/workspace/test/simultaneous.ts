type Send = () => Promise<{ readonly status: number }>;
export type SimultaneousPair = readonly [Send, Send];

/**
 * Sends two requests at once, round by round, and tells how many were done in any of them: each other
 * round the second finds the first further on its way, and in between they change places.
 */
export const countDone = async (
  prepare: (round: number) => Promise<SimultaneousPair>,
  rounds = 20,
): Promise<readonly number[]> => {
  const counts = new Set<number>();
  for (let round = 0; round < rounds; round += 1) {
    const pair = await prepare(round);
    const [first, second] = round % 2 === 0 ? pair : [pair[1], pair[0]];
    const early = first();
    for (let turn = 0; turn < (round >> 1) * 8; turn += 1) await Promise.resolve();
    const replies = await Promise.all([early, second()]);
    counts.add(replies.filter(({ status }) => status < 300).length);
  }
  return [...counts];
};
