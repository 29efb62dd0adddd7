/**
 * Reads ahead of a slow consumer and passes on everything received meanwhile as one group, so that
 * a slower consumer handles larger groups.
 */
export interface GroupLimits<T> {
  readonly sizeOf: (item: T) => number;
  /** A group ends before it is larger than this; a single item may be. */
  readonly maxGroupSize: number;
  /** Reading stops while more than this waits. */
  readonly maxWaitingSize: number;
}

/**
 * Ends with the source; an error of the source is thrown after all its items. Aborting `signal`
 * must end the source.
 */
export async function* inGroups<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  signal: AbortSignal,
  { sizeOf, maxGroupSize, maxWaitingSize }: GroupLimits<T>,
): AsyncGenerator<readonly T[], void, void> {
  const ending = new AbortController();
  const waiting: T[] = [];
  let waitingSize = 0;
  let isEnded = false;
  let grown = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();
  const reading = (async () => {
    for await (const item of open(AbortSignal.any([signal, ending.signal]))) {
      waiting.push(item);
      waitingSize += sizeOf(item);
      grown.resolve();
      while (waitingSize > maxWaitingSize && !ending.signal.aborted) await taken.promise;
    }
  })().finally(() => {
    isEnded = true;
    grown.resolve();
  });
  // Its failure is awaited below, when everything before it was taken.
  reading.catch(() => undefined);
  const takeGroup = (): T[] => {
    let count = 0;
    let groupSize = 0;
    for (const item of waiting) {
      if (count > 0 && groupSize + sizeOf(item) > maxGroupSize) break;
      groupSize += sizeOf(item);
      count += 1;
    }
    waitingSize -= groupSize;
    taken.resolve();
    taken = Promise.withResolvers();
    return waiting.splice(0, count);
  };
  try {
    while (waiting.length > 0 || !isEnded)
      if (waiting.length > 0) yield takeGroup();
      else {
        await grown.promise;
        grown = Promise.withResolvers();
      }
    await reading;
  } finally {
    ending.abort();
    taken.resolve();
  }
}
