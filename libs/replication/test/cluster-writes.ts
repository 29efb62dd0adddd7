import { put, type TestPrimary } from './cluster.ts';

const CONCURRENT_WRITES = 500;

/** One commit per record: shared/<name>/0, shared/<name>/1, … */
export const putMany = async (primary: TestPrimary, count: number, name: string): Promise<void> => {
  for (let from = 0; from < count; from += CONCURRENT_WRITES)
    await Promise.all(
      Array.from({ length: Math.min(CONCURRENT_WRITES, count - from) }, (_, index) =>
        put(primary.store, { [`shared/${name}/${from + index}`]: `${name} ${from + index}` }),
      ),
    );
};
