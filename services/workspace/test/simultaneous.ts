type Send = () => Promise<{ readonly status: number }>;
export type SimultaneousPair = readonly [Send, Send];

/**
 * Sends two requests concurrently in several rounds, and returns the distinct numbers of successes
 * per round. The order alternates, and the delay between the two grows from round to round.
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
