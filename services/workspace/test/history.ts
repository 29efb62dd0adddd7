/**
 * Histories of concurrent callers, and whether they could have happened one call at a time
 * (linearizability: Herlihy and Wing, 1990; searched as Wing and Gong do, 1993).
 */
export interface Operation<State> {
  /** Times of the request and of the response, on one clock. */
  readonly from: number;
  readonly until: number;
  /** Name of the operation in the report when no order exists. */
  readonly name: string;
  /** The next state, the same one when nothing changes; undefined when the response is impossible there. */
  apply(state: State): State | undefined;
}

/** Operations that may come next: no other one was answered before they were requested. */
const firstOf = <State>(left: ReadonlySet<Operation<State>>): readonly Operation<State>[] => {
  const endsFirst = Math.min(...[...left].map(({ until }) => until));
  return [...left].filter(({ from }) => from <= endsFirst);
};

/**
 * Whether one order explains all answers and contradicts no call that ended before another began.
 * @param initial a value that is compared with ===
 */
export const isLinearizable = <State>(
  initial: State,
  operations: readonly Operation<State>[],
): boolean => {
  const names = new Map(operations.map((operation, index) => [operation, index]));
  const tried = new Set<string>();
  const search = (given: ReadonlySet<Operation<State>>, state: State): boolean => {
    const left = new Set(given);
    // Operations that change nothing come as early as possible, which rules out no later order.
    for (let isGoingOn = true; isGoingOn && left.size > 0; ) {
      isGoingOn = false;
      for (const operation of firstOf(left)) {
        if (operation.apply(state) !== state) continue;
        left.delete(operation);
        isGoingOn = true;
      }
    }
    if (left.size === 0) return true;
    const key = `${String(state)} ${[...left].map((one) => names.get(one)).join()}`;
    if (tried.has(key)) return false;
    tried.add(key);
    return firstOf(left).some((operation) => {
      const next = operation.apply(state);
      if (next === undefined) return false;
      return search(new Set([...left].filter((other) => other !== operation)), next);
    });
  };
  return search(new Set(operations), initial);
};
