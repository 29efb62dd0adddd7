/** The runs of one workspace are also ordered across replicas (`queueRun`). */
import { ORDERS_PER_MS } from '../../base/creation-order.ts';

/** Order of runs without one. */
export const toRunOrder = (run: {
  readonly order?: number | undefined;
  readonly createdAtMs: number;
  readonly number: number;
}): number => run.order ?? run.createdAtMs * ORDERS_PER_MS + (run.number % ORDERS_PER_MS);
