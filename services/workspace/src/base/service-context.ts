import type { Clock } from '@keelson/clock';
import type { Store } from '@keelson/storage';

/** Context of every operation. Each module adds to it in its own `seams/`. */
export interface ServiceContext {
  readonly store: Store;
  readonly clock: Clock;
  /** KEELSON_PUBLIC_URL; see `publicAddress`. */
  readonly publicUrl: string | undefined;
}
