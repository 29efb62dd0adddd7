/** Whether something grows: a straight line through block means, and the confidence interval of its slope. */
export interface Sample {
  readonly atSeconds: number;
  readonly value: number;
}

export interface Slope {
  /** By least squares. */
  readonly perHour: number;
  /** Half the width of the 95 % confidence interval. */
  readonly within: number;
  /** Increase of the line over the samples. */
  readonly gained: number;
}

/** Successive samples are correlated (a cache fills, a collection is late); block means are less so. */
const BLOCKS = 12;
/** Student's t for 97.5 % and BLOCKS - 2 degrees of freedom. */
const T = 2.228;
const SECONDS_PER_HOUR = 3600;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** @returns undefined if there are too few samples */
export const slopeOf = (samples: readonly Sample[]): Slope | undefined => {
  const size = Math.floor(samples.length / BLOCKS);
  if (size < 2) return undefined;
  const blocks = Array.from({ length: BLOCKS }, (_, index) => {
    const block = samples.slice(index * size, (index + 1) * size);
    return { x: mean(block.map((one) => one.atSeconds)), y: mean(block.map((one) => one.value)) };
  });
  const [meanX, meanY] = [mean(blocks.map(({ x }) => x)), mean(blocks.map(({ y }) => y))];
  const spread = blocks.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const slope = blocks.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const left = blocks.reduce((sum, { x, y }) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  const error = Math.sqrt(left / (BLOCKS - 2) / spread);
  const seconds = (samples.at(-1)?.atSeconds ?? 0) - (samples[0]?.atSeconds ?? 0);
  return {
    perHour: slope * SECONDS_PER_HOUR,
    within: T * error * SECONDS_PER_HOUR,
    gained: slope * seconds,
  };
};
