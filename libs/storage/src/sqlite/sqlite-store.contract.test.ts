import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { declaredKinds } from '../collections/table.ts';
import { registerReplicatedStoreContract } from '../contract/replicated-store.contract.ts';
import { registerStoreContract } from '../contract/store.contract.ts';
import { createStoreMemory } from './shared-head.ts';
import { joinSqliteStore, openSqliteStore } from './sqlite-store.ts';

describe('SQLite store', () => {
  registerStoreContract(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-store-'));
    return {
      open: (barrier, projections = [], kinds = declaredKinds()) =>
        openSqliteStore({ file: join(folder, 'store.db'), barrier, projections, kinds }),
      remove: () => rm(folder, { recursive: true }),
    };
  });
});

describe('SQLite store that several threads have open', () => {
  registerReplicatedStoreContract(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-store-'));
    const file = join(folder, 'store.db');
    const memory = createStoreMemory();
    let isOpen = false;
    return {
      open: (barrier, projections = [], kinds = declaredKinds()) => {
        const open = isOpen ? joinSqliteStore : openSqliteStore;
        isOpen = true;
        return open({ file, memory, barrier, projections, kinds });
      },
      remove: () => rm(folder, { recursive: true }),
    };
  });
});
