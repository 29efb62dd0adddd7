import { useEffect, useState } from 'preact/hooks';

export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly error: string | undefined;
  readonly isLoading: boolean;
  reload(): void;
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/**
 * What `load` gives, loaded again when one of `dependencies` changes and every `everyMs`, if given. The last
 * value stays while the next one loads or fails.
 */
export const useLoaded = <Value>(
  load: () => Promise<Value>,
  dependencies: readonly unknown[],
  everyMs?: number,
): Loaded<Value> => {
  const [state, setState] = useState<Omit<Loaded<Value>, 'reload'>>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isWanted = true;
    let timer: number | undefined;
    const run = async (): Promise<void> => {
      try {
        const value = await load();
        if (isWanted) setState({ value, error: undefined, isLoading: false });
      } catch (error) {
        if (isWanted) setState((last) => ({ ...last, error: messageOf(error), isLoading: false }));
      }
      if (isWanted && everyMs !== undefined) timer = setTimeout(() => void run(), everyMs);
    };
    void run();
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [...dependencies, round]);
  return { ...state, reload: () => setRound((last) => last + 1) };
};
