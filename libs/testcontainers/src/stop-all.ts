import type { StartedNetwork, StartedTestContainer } from 'testcontainers';

/** The last that was started ends first. */
export const stopAll = async (
  started: readonly StartedTestContainer[],
  network: StartedNetwork,
): Promise<void> => {
  for (const container of started.toReversed()) await container.stop();
  await network.stop();
};
