/** Dependencies of the operations on entities and groups. */
import type { Clock } from '@keelson/clock';
import type { Store } from '@keelson/storage';
import type { MountIndex } from '../mounts/domain/mount-index.ts';

export interface IdentityContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly mounts: () => Promise<MountIndex>;
}
