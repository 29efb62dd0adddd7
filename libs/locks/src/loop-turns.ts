/** Time in one turn of the event loop after which no further work begins. */
const TURN_MS = 2;

export interface LoopTurns {
  /** Whether one more piece of work may begin now. Otherwise `onTurn` is called once one may. */
  mayBegin(): boolean;
  /** Called before each piece of work, which begins in the same turn of the event loop. */
  begin(): void;
}

/**
 * Work that arrives together begins in several turns of the event loop, each of `TURN_MS`. Otherwise all that one owner
 * has sent would begin before the process reads what another one has sent in the meantime.
 */
export const createLoopTurns = (onTurn: () => void): LoopTurns => {
  let turnBeganAt: number | undefined;
  let isBeginning = false;
  return {
    mayBegin: () => {
      if (isBeginning) return false;
      if (turnBeganAt === undefined) {
        turnBeganAt = performance.now();
        setImmediate(() => {
          turnBeganAt = undefined;
          onTurn();
        });
      }
      return performance.now() - turnBeganAt < TURN_MS;
    },
    begin: () => {
      isBeginning = true;
      // After what the work does before it waits for anything, which belongs to the time of this turn.
      queueMicrotask(() => {
        process.nextTick(() => {
          isBeginning = false;
          onTurn();
        });
      });
    },
  };
};
