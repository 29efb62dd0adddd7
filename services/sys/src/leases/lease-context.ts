/** Dependencies of the operations on leases. */
import type { Clock } from '@keelson/clock';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import type { RpcService } from '@keelson/rpc';
import type { Store } from '@keelson/storage';
import type { EngineType } from '../mounts/engine-type-records.ts';
import type { LeaseRoomContext } from './lease-room.ts';

/** Dependencies of the registration of leases. */
export interface LeaseRegistryContext {
  readonly store: Store;
  readonly clock: Clock;
  /** The mount with this uuid, as its engine knows it. */
  readonly findMount: (uuid: string) => Promise<Mount | undefined>;
  readonly room: LeaseRoomContext;
}

export interface LeaseContext extends LeaseRegistryContext {
  readonly engineTypes: () => Promise<ReadonlyMap<string, EngineType>>;
  /** By service name. */
  readonly engines: ReadonlyMap<string, RpcService<typeof EngineDefinition>>;
  /** Called when leases have become due early. */
  readonly onEnd: () => void;
}
